#if os(Linux)
    import CCurl
    import Foundation

    /// An easy handle and what it is working on, used for one exchange after the other.
    ///
    /// Not `Sendable`: made, used and ended by the driver's thread alone, which is also the one libcurl calls back on.
    final class CurlTransfer {
        let easy: UnsafeMutableRawPointer
        private let detail: UnsafeMutablePointer<CChar>
        private var headerList: OpaquePointer?
        private(set) var exchange: CurlExchange?

        // Written by the callbacks while the exchange runs.
        var head = HTTPHeadReader()
        var body: [UInt8] = []
        var uploaded = 0
        /// The body that streams; nil where it is in memory or there is none.
        private(set) var reader: HTTPBodyReader?
        var progress = TransferProgress()
        /// When something last moved, where that matters.
        var lastMove: ContinuousClock.Instant?
        /// How often the request was begun to be sent.
        var sendings = 0
        /// Whether libcurl asks before it sends.
        var asksBeforeSending = false
        /// Whether the host's name is being looked up, or could not be found.
        var isResolving = false
        /// Why a callback ended the transfer.
        var failure: HTTPClientError?

        /// nil where libcurl has no memory for a handle.
        init?(_ configuration: CurlHTTPClient.Configuration) {
            guard let easy = curl_easy_init() else { return nil }
            self.easy = easy
            detail = .allocate(capacity: Int(CURL_ERROR_SIZE))
            detail[0] = 0
            configure(configuration)
            installCallbacks()
        }

        deinit {
            curl_slist_free_all(headerList)
            curl_easy_cleanup(easy)
            // libcurl writes into it until the handle is gone.
            detail.deallocate()
        }

        /// What stays the same for every exchange.
        private func configure(_ configuration: CurlHTTPClient.Configuration) {
            ccurl_set_pointer(easy, CURLOPT_ERRORBUFFER, detail)
            ccurl_set_pointer(easy, CURLOPT_PRIVATE, Unmanaged.passUnretained(self).toOpaque())
            ccurl_set_long(easy, CURLOPT_NOSIGNAL, 1)
            ccurl_set_long(easy, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS)
            ccurl_set_long(easy, CURLOPT_PATH_AS_IS, 1)
            ccurl_set_long(easy, CURLOPT_TCP_NODELAY, 1)
            ccurl_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
            ccurl_set_long(easy, CURLOPT_HTTP09_ALLOWED, 0)
            ccurl_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
            // HTTP/2 where TLS negotiates it; a build without it refuses the option and stays with 1.1. (CURLOPT_PIPEWAIT would
            // save connections then, but makes a second request to an HTTP/1.1 server wait for the first one's answer.)
            ccurl_set_long(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
            // Lets a name resolution be given up without waiting for the resolver (see `CurlMulti.lingers`).
            ccurl_set_long(easy, CURLOPT_QUICK_EXIT, 1)
            ccurl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(configuration.connectTimeout.milliseconds))
            ccurl_set_string(easy, CURLOPT_ACCEPT_ENCODING, "")
            configuration.tls.apply(to: easy)
            configuration.proxy.apply(to: easy)
        }

        /// - Throws: ``HTTPClientError/Kind/unreadableFile`` where the body's files cannot be read; nothing has begun then.
        func begin(_ exchange: CurlExchange) throws(HTTPClientError) {
            reader = try exchange.streams?.body.map { (body) throws(HTTPClientError) in try HTTPBodyReader(body) }
            progress = TransferProgress(totalToSend: reader?.count ?? Int64(exchange.request.body?.count ?? 0))
            lastMove = exchange.streams?.stallTimeout == nil ? nil : .now
            self.exchange = exchange
            head = HTTPHeadReader()
            uploaded = 0
            isResolving = false
            failure = nil
            detail[0] = 0
            let request = exchange.request
            ccurl_set_string(easy, CURLOPT_URL, request.url.absoluteString)
            // Undoes whatever method and body the exchange before had.
            ccurl_set_long(easy, CURLOPT_HTTPGET, 1)
            let isPlain = request.method == "GET" || request.method == "HEAD"
            ccurl_set_string(easy, CURLOPT_CUSTOMREQUEST, isPlain ? nil : request.method)
            let sendsBody = request.body != nil || reader != nil || ["POST", "PUT", "PATCH"].contains(request.method)
            if sendsBody {
                ccurl_set_long(easy, CURLOPT_UPLOAD, 1)
                ccurl_set_offset(easy, CURLOPT_INFILESIZE_LARGE, progress.totalToSend)
                if request.method == "GET" { ccurl_set_string(easy, CURLOPT_CUSTOMREQUEST, "GET") }
            }
            if request.method == "HEAD" { ccurl_set_long(easy, CURLOPT_NOBODY, 1) }
            // libcurl would silently send the request twice where a kept connection turns out to be dead. From 7.80 on it asks before it sends
            // (see `mayBeSent`); before, a body can be refused a second reading (see `rewind`), and an empty one needs none.
            sendings = 0
            let needsOwnConnection = !isRepeatable && progress.totalToSend == 0 && !asksBeforeSending
            ccurl_set_long(easy, CURLOPT_FRESH_CONNECT, needsOwnConnection ? 1 : 0)
            setHeaders(request.headers, sendsBody: sendsBody)
        }

        private func setHeaders(_ headers: HTTPHeaders, sendsBody: Bool) {
            curl_slist_free_all(headerList)
            headerList = nil
            for field in headers {
                // With a colon, an empty value would mean "do not send this field".
                headerList = curl_slist_append(headerList, field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
            }
            if sendsBody, headers["Expect"] == nil { headerList = curl_slist_append(headerList, "Expect:") }
            ccurl_set_pointer(easy, CURLOPT_HTTPHEADER, UnsafeRawPointer(headerList))
        }

        /// When the exchange has to be given up, as far as is known now.
        var deadline: ContinuousClock.Instant? {
            guard let lastMove, let stallTimeout = exchange?.streams?.stallTimeout else { return exchange?.deadline }
            let stalled = lastMove.advanced(by: stallTimeout)
            return min(exchange?.deadline ?? stalled, stalled)
        }

        /// Whether libcurl may send the request another time.
        var isRepeatable: Bool { exchange?.request.isRepeatable ?? false }

        /// Whether any byte of the request left.
        var isSent: Bool {
            var bytes = 0
            return ccurl_get_long(easy, CURLINFO_REQUEST_SIZE, &bytes) != CURLE_OK || bytes > 0
        }

        /// Hands the outcome to the caller and lets go of the exchange.
        func end(_ code: CURLcode) {
            guard let exchange else { return }
            end(with: result(code, exchange))
        }

        func end(with result: Result<HTTPResponse, HTTPClientError>) {
            let ended = exchange
            exchange = nil
            body = []
            reader = nil
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
                return .failure(HTTPClientError(.badResponse, "The answer has no complete head", host: exchange.host))
            }
            let headers = HTTPHeaders(received: head.fields)
            return .success(HTTPResponse(status: head.status, headers: headers, body: body, url: exchange.request.url))
        }
    }
#endif
