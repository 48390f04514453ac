#if os(Linux)
    import CCurl

    /// A connection that libcurl made and keeps: TLS, or through a proxy.
    ///
    /// The connection lives in the cache of a multi handle of its own, which `curl_easy_send` and `curl_easy_recv` touch as well.
    ///
    /// Unchecked: the handles and the record are used by one thread at a time: by the dialling one until the stream is handed over, then
    /// under the lock of ``WebSocketLink`` (``ByteStream``).
    final class CurlByteStream: ByteStream, @unchecked Sendable {
        /// The largest TLS record.
        private static let largestRecord = 16 * 1024

        let easy: UnsafeMutableRawPointer
        let multi: UnsafeMutableRawPointer
        /// What was offered to libcurl last and not taken. Up to 8.13, OpenSSL wants the very same memory and no less of it once more,
        /// or it ends the connection.
        private var record: UnsafeMutableRawBufferPointer?

        let holdsBytes = true
        /// -1 until ``connected()``.
        private(set) var descriptor: Int32 = -1

        /// Makes the handles, not connected yet; nil without memory.
        init?() {
            guard let multi = curl_multi_init() else { return nil }
            guard let easy = curl_easy_init() else {
                curl_multi_cleanup(multi)
                return nil
            }
            self.easy = easy
            self.multi = multi
        }

        /// `CURLOPT_CONNECT_ONLY` has done its work: from here on this is a stream.
        /// - Returns: whether there is a socket.
        func connected() -> Bool {
            descriptor = ccurl_active_socket(easy)
            return descriptor >= 0
        }

        deinit {
            // The close_notify of TLS goes out here.
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
            let code = curl_easy_recv(easy, memory, buffer.count, &count)
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
