#if os(Linux)
    import CCurl
    import Foundation

    extension CurlTransfer {
        func installCallbacks() {
            let context = Unmanaged.passUnretained(self).toOpaque()
            for option in [
                CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA, CURLOPT_SOCKOPTDATA, CURLOPT_RESOLVER_START_DATA,
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
                return CurlTransfer.at(context).receivedBody(piece) ? piece.count : 0
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
            ccurl_set_sockopt_function(easy) { context, _, _ in
                let transfer = CurlTransfer.at(context)
                transfer.isResolving = false
                // Without an exchange it was given up while its host's name was being resolved: nothing may be sent any more.
                return transfer.exchange == nil ? 1 : 0
            }
        }

        /// The transfer a callback is about: alive, as libcurl calls back only while the driver, which holds it, is inside libcurl.
        private static func at(_ context: UnsafeMutableRawPointer?) -> CurlTransfer {
            Unmanaged.fromOpaque(context.unsafelyUnwrapped).takeUnretainedValue()
        }

        private func receivedHeadLine(_ line: UnsafeRawBufferPointer) -> Bool {
            do {
                try head.read(line)
                return true
            } catch {
                failure = HTTPClientError(head: error, host: exchange?.host)
                return false
            }
        }

        private func receivedBody(_ piece: UnsafeRawBufferPointer) -> Bool {
            if exchange?.streams != nil { return streamed(piece) }
            return collected(piece)
        }

        func collected(_ piece: UnsafeRawBufferPointer) -> Bool {
            let maximum = exchange?.request.maximumResponseBytes ?? 0
            guard piece.count <= maximum - body.count else {
                failure = HTTPClientError(.responseTooLarge, "The answer is larger than \(maximum) bytes", host: exchange?.host)
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

        /// Whether the request may be sent; a second time only where that does no harm.
        private func mayBeSent() -> Bool {
            sendings += 1
            guard sendings > 1, !isRepeatable else { return true }
            failure = HTTPClientError(.connectionLost, "The connection was lost before an answer came", host: exchange?.host)
            return false
        }

        /// libcurl asks for the body from its start when a kept connection broke without an answer and it means to try another. What may have
        /// been executed must not be sent again behind the caller's back.
        private func rewind(to offset: Int64, from origin: Int32) -> Bool {
            guard isRepeatable, offset == 0, origin == SEEK_SET else { return false }
            uploaded = 0
            reader?.rewind()
            progress.sent = 0
            return true
        }
    }
#endif
