#if canImport(FoundationNetworking)
    import CCurl
    import Foundation

    /// An easy handle and its current exchange, reused for one exchange after another. Not `Sendable`: only the
    /// driver's thread creates, uses, and ends it, and libcurl makes its callbacks on the same thread.
    final class CurlTransfer {
        let easy: UnsafeMutableRawPointer
        private let detail: UnsafeMutablePointer<CChar>
        private var headerList: OpaquePointer?
        private(set) var exchange: CurlExchange?

        // Written by the callbacks while the exchange runs.
        private(set) var head = HTTPHeadReader()
        private var body: [UInt8] = []
        /// The number of response bytes received so far, after decompression.
        private var received: Int64 = 0
        /// The number of bytes transmitted when libcurl was last asked.
        private var transmitted: Int64 = 0
        /// Whether the body has a reader that gets it as it arrives.
        private(set) var isPassingOn = false
        /// Bytes that are gathered for the pipe until libcurl has nothing more to read for now. libcurl delivers each
        /// HTTP chunk separately, and waking the reader for a chunk costs more than the chunk itself.
        private var gathered: [UInt8] = []
        private var uploaded = 0
        /// The reader of a streamed body, or nil if the body is in memory or there is none.
        private var reader: HTTPBodyReader?
        private var progress = TransferProgress()
        /// When data last moved, or nil without a stall timeout.
        private var lastMove: ContinuousClock.Instant?
        /// How many times sending the request has begun.
        private var sendings = 0
        /// Whether libcurl calls `mayBeSent` before it sends.
        private var asksBeforeSending = false
        private(set) var isResolving = false
        private var isPaused = false
        /// Whether libcurl is waiting for bytes of a stream.
        private var isAwaitingBody = false
        /// Whether this handle was ever paused.
        private(set) var hasPaused = false
        private var failure: HTTPClientError?
        private unowned let owner: CurlMulti

        /// Returns nil if libcurl cannot allocate a handle.
        init?(_ settings: CurlSettings, _ owner: CurlMulti) {
            self.owner = owner
            guard let easy = curl_easy_init() else { return nil }
            self.easy = easy
            detail = .allocate(capacity: Int(CURL_ERROR_SIZE))
            detail[0] = 0
            ccurl_set_pointer(easy, CURLOPT_ERRORBUFFER, detail)
            ccurl_set_pointer(easy, CURLOPT_PRIVATE, Unmanaged.passUnretained(self).toOpaque())
            settings.apply(to: easy)
            installCallbacks()
        }

        deinit {
            curl_slist_free_all(headerList)
            curl_easy_cleanup(easy)
            // libcurl writes to this buffer until the handle is freed.
            detail.deallocate()
        }

        /// - Parameter idleLimit: How long a connection may have been idle, in seconds.
        /// - Throws: ``HTTPClientError/Kind/unreadableFile`` if the body's files cannot be read. In that case, nothing
        ///   has begun.
        func begin(_ exchange: CurlExchange, idleLimit: Int) throws(HTTPClientError) {
            reader = try exchange.streams?.body.map { (body) throws(HTTPClientError) in try HTTPBodyReader(body) }
            let length = reader.map(\.count) ?? Int64(exchange.request.body?.count ?? 0)
            progress = TransferProgress(totalToSend: length ?? 0)
            lastMove = exchange.streams?.transfer.stallTimeout == nil ? nil : .now
            self.exchange = exchange
            head = HTTPHeadReader()
            (received, transmitted, isPassingOn) = (0, 0, false)
            gathered.removeAll(keepingCapacity: true)
            (uploaded, isResolving, failure) = (0, false, nil)
            detail[0] = 0
            let request = exchange.request
            // Without `withCString`, Swift would copy the text first.
            _ = request.url.absoluteString.withCString { ccurl_set_string(easy, CURLOPT_URL, $0) }
            // Clears the previous exchange's method and body.
            ccurl_set_long(easy, CURLOPT_HTTPGET, 1)
            let isPlain = request.method == "GET" || request.method == "HEAD"
            ccurl_set_string(easy, CURLOPT_CUSTOMREQUEST, isPlain ? nil : request.method)
            let sendsBody = request.body != nil || reader != nil || ["POST", "PUT", "PATCH"].contains(request.method)
            if sendsBody {
                ccurl_set_long(easy, CURLOPT_UPLOAD, 1)
                ccurl_set_offset(easy, CURLOPT_INFILESIZE_LARGE, length ?? -1)
                if request.method == "GET" { ccurl_set_string(easy, CURLOPT_CUSTOMREQUEST, "GET") }
            }
            if request.method == "HEAD" { ccurl_set_long(easy, CURLOPT_NOBODY, 1) }
            // If a pooled connection turns out to be dead, libcurl would silently send the request twice. Since 7.80,
            // libcurl makes a callback before it sends (see `mayBeSent`). Earlier versions can be kept from rereading a
            // body (see `rewind`), but not from resending a request that has no body.
            sendings = 0
            ccurl_set_long(easy, CURLOPT_MAXAGE_CONN, max(idleLimit - 1, 0))
            let needsOwnConnection = !isRepeatable && (idleLimit < 1 || length == 0 && !asksBeforeSending)
            let keepAlive = exchange.streams?.transfer.keepAlive
            ccurl_set_long(easy, CURLOPT_FRESH_CONNECT, needsOwnConnection || keepAlive != nil ? 1 : 0)
            // libcurl applies these only when it opens the socket.
            ccurl_set_long(easy, CURLOPT_FORBID_REUSE, keepAlive != nil ? 1 : 0)
            let interval = Int((keepAlive ?? .seconds(60)).milliseconds + 999) / 1000
            ccurl_set_long(easy, CURLOPT_TCP_KEEPIDLE, interval)
            ccurl_set_long(easy, CURLOPT_TCP_KEEPINTVL, keepAlive == nil ? interval : max(interval / 3, 1))
            // A paused HTTP/2 stream would buffer up to its window, which is megabytes. HTTP/1.1 leaves the bytes in
            // the socket.
            ccurl_set_long(
                easy, CURLOPT_HTTP_VERSION,
                exchange.streams?.transfer.pipe == nil ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1)
            (isPaused, isAwaitingBody) = (false, false)
            setHeaders(request.headers, sendsBody: sendsBody)
        }

        private func setHeaders(_ headers: HTTPHeaders, sendsBody: Bool) {
            curl_slist_free_all(headerList)
            headerList = nil
            for field in headers {
                // With a colon, an empty value would mean "do not send this field".
                let line = field.value.isEmpty ? field.name + ";" : field.name + ": " + field.value
                headerList = line.withCString { curl_slist_append(headerList, $0) }
            }
            if sendsBody, headers["Expect"] == nil { headerList = curl_slist_append(headerList, "Expect:") }
            ccurl_set_pointer(easy, CURLOPT_HTTPHEADER, UnsafeRawPointer(headerList))
        }

        /// When the exchange times out, unless data moves before then.
        var deadline: ContinuousClock.Instant? {
            guard let lastMove, let stallTimeout = exchange?.streams?.transfer.stallTimeout, !isPaused, !isAwaitingBody
            else {
                return exchange?.deadline
            }
            let stalled = lastMove.advanced(by: stallTimeout)
            return min(exchange?.deadline ?? stalled, stalled)
        }

        private var isRepeatable: Bool { exchange?.request.isRepeatable ?? false }

        var isSent: Bool {
            var bytes = 0
            return ccurl_get_long(easy, CURLINFO_REQUEST_SIZE, &bytes) != CURLE_OK || bytes > 0
        }

        /// Whether the request may have been executed, as far as can be told without a response.
        var delivery: HTTPClientError.Delivery { isSent ? .mayHaveExecuted : .neverSent }

        /// Passes the outcome to the caller and releases the exchange.
        func end(_ code: CURLcode) {
            guard let exchange else { return }
            end(with: result(code, exchange))
        }

        func end(with result: Result<HTTPResponse, HTTPClientError>) {
            let (ended, pipe) = (exchange, pipe)
            exchange = nil
            body = []
            reader = nil
            // Ends the pipe here, so that the reader of a complete body need not wait until the task that awaits the
            // exchange runs.
            if case .success(let response) = result { pipe?.end(.success(response)) }
            ended?.finish(result)
        }

        private func result(_ code: CURLcode, _ exchange: CurlExchange) -> Result<HTTPResponse, HTTPClientError> {
            if let failure { return .failure(failure) }
            guard code == CURLE_OK else {
                let words = String(cString: detail)
                let known = words.isEmpty ? Libcurl.words(for: code) : words
                return .failure(HTTPClientError(curl: code, detail: known, isSent: isSent, host: exchange.host))
            }
            guard head.isComplete else {
                return .failure(HTTPClientError(.badResponse, "The response head is incomplete", host: exchange.host))
            }
            let headers = HTTPHeaders(received: head.fields)
            var response = HTTPResponse(status: head.status, headers: headers, body: body, url: exchange.request.url)
            response.hasLostFields = exchange.request.hasLostFields
            return .success(response)
        }

        private func installCallbacks() {
            let context = Unmanaged.passUnretained(self).toOpaque()
            for option in [
                CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA, CURLOPT_SOCKOPTDATA,
                CURLOPT_RESOLVER_START_DATA,
                CURLOPT_PREREQDATA,
            ] {
                ccurl_set_pointer(easy, option, context)
            }
            ccurl_set_header_function(easy) { bytes, size, count, context in
                let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
                return CurlTransfer.at(context).receivedHeadLine(line) ? line.count : 0
            }
            ccurl_set_write_function(easy) { bytes, size, count, context in
                let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
                return CurlTransfer.at(context).receivedBody(piece)
            }
            ccurl_set_read_function(easy) { bytes, size, count, context in
                CurlTransfer.at(context).fill(UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
            }
            ccurl_set_seek_function(easy) { context, offset, origin in
                CurlTransfer.at(context).rewind(to: offset, from: origin) ? 0 : 1
            }
            ccurl_set_resolver_start_function(easy) { _, _, context in
                CurlTransfer.at(context).isResolving = true
                return 0
            }
            asksBeforeSending =
                ccurl_set_prereq_function(easy) { context, _, _, _, _ in
                    CurlTransfer.at(context).mayBeSent() ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
                } == CURLE_OK
            ccurl_set_sockopt_function(easy) { context, socket, _ in
                let transfer = CurlTransfer.at(context)
                transfer.isResolving = false
                // Without an exchange, the transfer was abandoned during name resolution, so nothing may be sent. A
                // child process that inherits the socket would keep the connection open after it is closed.
                return transfer.exchange == nil ? 1 : fcntl(socket, F_SETFD, FD_CLOEXEC)
            }
        }

        /// Returns a callback's transfer, which is alive: libcurl makes callbacks only while the driver, which holds
        /// the transfer, is calling it.
        private static func at(_ context: UnsafeMutableRawPointer?) -> CurlTransfer {
            guard let context else {
                preconditionFailure("libcurl makes every callback with the transfer it was given")
            }
            return Unmanaged.fromOpaque(context).takeUnretainedValue()
        }

        private func receivedHeadLine(_ line: UnsafeRawBufferPointer) -> Bool {
            do {
                let wasComplete = head.isComplete
                try head.read(line)
                if head.isComplete, !wasComplete { receivedHead() }
                return true
            } catch {
                failure = HTTPClientError(head: error, host: exchange?.host)
                return false
            }
        }

        /// The pipe for the body of this response, if it has one and its status is a success.
        private var pipe: HTTPBodyPipe? { (200..<300).contains(head.status) ? exchange?.streams?.transfer.pipe : nil }

        private func receivedHead() {
            // libcurl stops sending after an early refusal, but does not end a transfer whose sending is paused.
            if isAwaitingBody, head.status >= 300 { owner.noteArrival(of: self) }
            guard let pipe, let exchange else { return }
            isPassingOn = true
            if lastMove != nil { lastMove = .now }
            var response = HTTPResponse(
                status: head.status, headers: HTTPHeaders(received: head.fields), url: exchange.request.url)
            response.hasLostFields = exchange.request.hasLostFields
            pipe.open(response) { [weak exchange] in exchange?.resume() }
        }

        /// - Returns: The number of bytes taken, or `CURL_WRITEFUNC_PAUSE`.
        private func receivedBody(_ piece: UnsafeRawBufferPointer) -> Int {
            if isPaused { return Int(CURL_WRITEFUNC_PAUSE) }
            received += Int64(piece.count)
            guard isInProportion else {
                let message =
                    "The response is more than \(DecompressionLimit.ratio) times as large as what was transmitted"
                failure = HTTPClientError(.responseTooLarge, message, host: exchange?.host)
                return 0
            }
            if isPassingOn {
                owner.countPiece()
                if gathered.isEmpty { owner.noteArrival(of: self) }
                gathered.append(contentsOf: piece)
                if gathered.count >= Self.gatheringLimit { passOn() }
                return piece.count
            }
            return (exchange?.streams != nil ? streamed(piece) : collected(piece)) ? piece.count : 0
        }

        /// The number of bytes that are passed on at once, although more may follow.
        private static let gatheringLimit = 16 << 10

        /// Passes what has arrived to the reader. If the pipe is full then, the next piece pauses the transfer.
        func passOn() {
            if isAwaitingBody, head.status >= 300 { resume() }
            guard !gathered.isEmpty, let pipe else { return }
            if gathered.withUnsafeBytes({ pipe.write($0) }) { (isPaused, hasPaused) = (true, true) }
            moved { [count = Int64(gathered.count)] in $0.received += count }
            gathered.removeAll(keepingCapacity: true)
        }

        /// Continues after a pause. libcurl delivers what it has before this call returns.
        func resume() {
            guard isPaused || isAwaitingBody else { return }
            // The stream of the request's body may continue while the reader of the response is slow.
            isPaused = isPaused && pipe?.isFull == true
            isAwaitingBody = false
            if lastMove != nil { lastMove = .now }
            curl_easy_pause(easy, isPaused ? CURLPAUSE_RECV : 0)
        }

        /// Whether the bytes received so far are within the decompression limit for the bytes transmitted.
        private var isInProportion: Bool {
            // `transmitted` may be out of date. It only grows, so if it permits the bytes, they are permitted. libcurl
            // passes on many small pieces, and asking it about each one would cost too much.
            guard received > DecompressionLimit.floor, !DecompressionLimit.permits(received, from: transmitted) else {
                return true
            }
            // Does not yet include the bytes that libcurl is decompressing now, at most 16 KiB.
            guard ccurl_get_offset(easy, CURLINFO_SIZE_DOWNLOAD_T, &transmitted) == CURLE_OK else { return true }
            return DecompressionLimit.permits(received, from: transmitted)
        }

        private func collected(_ piece: UnsafeRawBufferPointer) -> Bool {
            let maximum = exchange?.request.maximumResponseBytes ?? 0
            guard piece.count <= maximum - body.count else {
                failure = HTTPClientError(
                    .responseTooLarge, "The response is larger than \(maximum) bytes", host: exchange?.host)
                return false
            }
            body.append(contentsOf: piece)
            return true
        }

        private func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
            if let reader { return fill(buffer, from: reader) }
            guard let body = exchange?.request.body else { return 0 }
            let count = min(buffer.count, body.count - uploaded)
            body.withUnsafeBytes { bytes in
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[uploaded..<(uploaded + count)]))
            }
            uploaded += count
            return count
        }

        /// Returns whether the request may be sent. A second time is allowed only if repeating is safe.
        private func mayBeSent() -> Bool {
            sendings += 1
            guard sendings > 1, !isRepeatable else { return true }
            failure = HTTPClientError(
                .connectionLost, "The connection was lost before a response arrived", host: exchange?.host)
            return false
        }

        /// libcurl rewinds the body if a pooled connection broke without a response and it intends to retry on another.
        /// A request that may have been executed must not be sent again without the caller's knowledge.
        private func rewind(to offset: Int64, from origin: Int32) -> Bool {
            guard isRepeatable, offset == 0, origin == SEEK_SET else { return false }
            guard reader?.rewind() != false else { return false }
            uploaded = 0
            progress.sent = 0
            return true
        }

        /// Stores a piece of a response whose progress is reported: in the file for a successful response, otherwise in
        /// memory.
        private func streamed(_ piece: UnsafeRawBufferPointer) -> Bool {
            if progress.received == 0 {
                let headers = HTTPHeaders(received: head.fields)
                if headers["Content-Encoding"] == nil {
                    progress.totalToReceive = headers["Content-Length"].flatMap(Int64.init)
                }
            }
            if let download = exchange?.streams?.download, (200..<300).contains(head.status) {
                do {
                    try download.write(piece)
                } catch {
                    failure = error
                    return false
                }
            } else if !collected(piece) {
                return false
            }
            moved { $0.received += Int64(piece.count) }
            return true
        }

        private func fill(_ buffer: UnsafeMutableRawBufferPointer, from reader: HTTPBodyReader) -> Int {
            do {
                guard let count = try reader.read(into: buffer, resume: { [weak exchange] in exchange?.resume() })
                else {
                    (isAwaitingBody, hasPaused) = (true, true)
                    return Int(CURL_READFUNC_PAUSE)
                }
                moved { progress in
                    progress.sent += Int64(count)
                    if count == 0 { progress.totalToSend = progress.sent }
                }
                return count
            } catch {
                // libcurl closes the connection, so that the server does not mistake the beginning of the body for all
                // of it.
                failure = error
                failure?.delivery = .mayHaveExecuted
                return CURL_READFUNC_ABORT
            }
        }

        private func moved(_ change: (inout TransferProgress) -> Void) {
            change(&progress)
            if lastMove != nil { lastMove = .now }
            exchange?.streams?.transfer.progress?(progress)
        }
    }
#endif
