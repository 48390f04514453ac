#if canImport(FoundationNetworking)
    import CCurl
    import Foundation

    /// An open connection that carries bytes. It closes when its last reference is released. Only one thread at a time
    /// may call it; shared streams need a lock.
    protocol ByteStream: AnyObject, Sendable {
        var descriptor: Int32 { get }
        /// Whether bytes may be buffered above the socket, where watching the socket does not reveal them. If so, read
        /// until nothing is left.
        var holdsBytes: Bool { get }
        func read(into buffer: UnsafeMutableRawBufferPointer) -> ByteStreamProgress
        func write(_ bytes: UnsafeRawBufferPointer) -> ByteStreamProgress
    }

    enum ByteStreamProgress: Sendable, Equatable {
        case bytes(Int)
        /// No progress is possible until the socket is ready again.
        case wouldBlock
        case ended
        case failed(String)
    }

    /// A plain connection without libcurl's handle around it, which takes 3 KB instead of 24 KB.
    final class SocketByteStream: ByteStream {
        let descriptor: Int32
        let holdsBytes = false

        /// Takes ownership of a non-blocking socket.
        init(owning descriptor: Int32) { self.descriptor = descriptor }

        /// Duplicates another stream's socket, which may then be closed. Returns nil if no more descriptors are
        /// available.
        convenience init?(duplicating socket: Int32) {
            let copy = fcntl(socket, F_DUPFD_CLOEXEC, 0)
            guard copy >= 0 else { return nil }
            // These flags are shared with the original, for which libcurl has already set them.
            _ = fcntl(copy, F_SETFL, fcntl(copy, F_GETFL) | O_NONBLOCK)
            self.init(owning: copy)
        }

        deinit { close(descriptor) }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> ByteStreamProgress {
            while true {
                let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
                if count > 0 { return .bytes(count) }
                if count == 0 { return .ended }
                if errno != EINTR { return Self.progress(errno) }
            }
        }

        func write(_ bytes: UnsafeRawBufferPointer) -> ByteStreamProgress {
            while true {
                let count = send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                if count >= 0 { return .bytes(count) }
                if errno != EINTR { return Self.progress(errno) }
            }
        }

        private static func progress(_ code: Int32) -> ByteStreamProgress {
            code == EAGAIN || code == EWOULDBLOCK ? .wouldBlock : .failed(String(cString: strerror(code)))
        }
    }

    /// A connection that libcurl made and still owns: TLS, or through a proxy. It lives in the cache of its own multi
    /// handle, which `curl_easy_send` and `curl_easy_recv` also access.
    ///
    /// Unchecked: only one thread at a time uses the handles and the record. First the dialing thread until the stream
    /// is passed on, then any thread that holds the lock of ``WebSocketLink`` (``ByteStream``).
    final class CurlByteStream: ByteStream, @unchecked Sendable {
        private static let largestRecord = 16 * 1024

        let easy: UnsafeMutableRawPointer
        let multi: UnsafeMutableRawPointer
        /// The last bytes offered to libcurl but not accepted. Up to libcurl 8.13, OpenSSL ends the connection unless
        /// the next attempt offers the same memory and at least as many bytes.
        private var record: UnsafeMutableRawBufferPointer?

        let holdsBytes = true
        /// -1 until ``connected()``.
        private(set) var descriptor: Int32 = -1

        /// Creates the handles without connecting. Returns nil if out of memory.
        init?() {
            guard let multi = curl_multi_init() else { return nil }
            guard let easy = curl_easy_init() else {
                curl_multi_cleanup(multi)
                return nil
            }
            self.easy = easy
            self.multi = multi
        }

        /// Turns the finished `CURLOPT_CONNECT_ONLY` transfer into a stream. Returns `false` if there is no socket.
        func connected() -> Bool {
            descriptor = ccurl_active_socket(easy)
            return descriptor >= 0
        }

        deinit {
            // This sends TLS's close_notify.
            BrokenPipeSignal.swallowed {
                curl_multi_remove_handle(multi, easy)
                curl_easy_cleanup(easy)
                curl_multi_cleanup(multi)
            }
            record?.deallocate()
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> ByteStreamProgress {
            guard let memory = buffer.baseAddress else { return .bytes(0) }
            var count = 0
            // Reading may write too: TLS acknowledges a change of keys.
            let code = BrokenPipeSignal.swallowed { curl_easy_recv(easy, memory, buffer.count, &count) }
            if code == CURLE_OK, count == 0 { return .ended }
            return Self.progress(code, count)
        }

        func write(_ bytes: UnsafeRawBufferPointer) -> ByteStreamProgress {
            let record = record ?? Self.copy(bytes.prefix(Self.largestRecord))
            self.record = record
            guard let memory = record.baseAddress else { return .bytes(0) }
            var count = 0
            let code = BrokenPipeSignal.swallowed { curl_easy_send(easy, memory, record.count, &count) }
            if code == CURLE_OK {
                record.deallocate()
                self.record = nil
            }
            return Self.progress(code, count)
        }

        private static func copy(_ bytes: Slice<UnsafeRawBufferPointer>) -> UnsafeMutableRawBufferPointer {
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
            memory.copyBytes(from: bytes)
            return memory
        }

        private static func progress(_ code: CURLcode, _ count: Int) -> ByteStreamProgress {
            switch code {
            case CURLE_OK: .bytes(count)
            case CURLE_AGAIN: .wouldBlock
            default: .failed(Libcurl.words(for: code))
            }
        }
    }
#endif
