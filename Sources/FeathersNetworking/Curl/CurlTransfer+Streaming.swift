#if os(Linux)
    import CCurl

    extension CurlTransfer {
        /// Takes a piece of an answer that is watched: into the file where it is a success, else into memory.
        func streamed(_ piece: UnsafeRawBufferPointer) -> Bool {
            if progress.received == 0, head.contentEncoding == nil { progress.totalToReceive = head.contentLength }
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

        /// Hands the next piece of a streaming body to libcurl.
        func fill(_ buffer: UnsafeMutableRawBufferPointer, from reader: HTTPBodyReader) -> Int {
            do {
                let count = try reader.read(into: buffer)
                moved { $0.sent += Int64(count) }
                return count
            } catch {
                failure = error
                failure?.delivery = .mayHaveExecuted
                return CURL_READFUNC_ABORT
            }
        }

        private func moved(_ change: (inout TransferProgress) -> Void) {
            change(&progress)
            if lastMove != nil { lastMove = .now }
            exchange?.streams?.report(progress)
        }
    }

    extension HTTPHeadReader {
        fileprivate var contentEncoding: String? { HTTPHeaders(received: fields)["Content-Encoding"] }

        fileprivate var contentLength: Int64? { HTTPHeaders(received: fields)["Content-Length"].flatMap(Int64.init) }
    }
#endif
