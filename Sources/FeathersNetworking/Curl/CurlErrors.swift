#if os(Linux)
    import CCurl

    /// What libcurl itself says about a failure.
    struct CurlError: Error, Sendable, CustomStringConvertible {
        /// libcurl's number, such as 7 for `CURLE_COULDNT_CONNECT`.
        var code: Int
        /// libcurl's fixed words for it: its longer ones can quote what was sent.
        var words: String

        var description: String { "\(words) (libcurl \(code))" }
    }

    extension HTTPClientError {
        /// Reads what libcurl reports.
        /// - Parameters:
        ///   - detail: what libcurl noted about this very transfer.
        ///   - isSent: whether any byte of the request left; it alone decides about ``delivery``.
        init(curl code: CURLcode, detail: String, isSent: Bool, host: String?) {
            let (kind, message) = Self.meaning(of: code, detail)
            let cause = CurlError(code: Int(code.rawValue), words: Libcurl.words(for: code))
            self.init(kind, message, host: host, delivery: isSent ? .mayHaveExecuted : .neverSent, cause: cause)
        }

        private static func meaning(of code: CURLcode, _ detail: String) -> (Kind, String) {
            switch code {
            case CURLE_URL_MALFORMAT:
                (.invalidURL, "The URL cannot be requested")
            case CURLE_COULDNT_RESOLVE_HOST:
                (.hostNotFound, "The host was not found")
            case CURLE_COULDNT_RESOLVE_PROXY:
                (.hostNotFound, "The proxy was not found")
            case CURLE_RECV_ERROR where isAboutTunnel(detail), CURLE_COULDNT_CONNECT where isAboutTunnel(detail):
                (.cannotConnect, "The proxy did not connect to the server: \(detail)")
            case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_NO_CONNECTION_AVAILABLE:
                (.cannotConnect, "Could not connect to the server")
            case CURLE_PROXY:
                (.cannotConnect, "The proxy did not connect to the server")
            case CURLE_OPERATION_TIMEDOUT:
                (.timeout, "No complete answer came in time")
            case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
                (.tls, "The server's certificate was refused: \(detail)")
            case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE:
                (.tls, "The trusted certificates could not be read")
            case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT, CURLE_SSL_ENGINE_NOTFOUND,
                CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_SHUTDOWN_FAILED:
                (.tls, "The secure connection could not be made: \(detail)")
            case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_CHUNK_FAILED, CURLE_HTTP2,
                CURLE_OUT_OF_MEMORY, CURLE_TOO_LARGE:
                // The URL's scheme was checked before: what is unsupported is the answer's protocol. Before 8.3, a head over the limit is
                // "out of memory".
                (.badResponse, "The answer could not be read as HTTP")
            case CURLE_RECV_ERROR where isAboutFraming(detail):
                (.badResponse, "The answer could not be read as HTTP")
            case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_SEND_FAIL_REWIND, CURLE_HTTP2_STREAM,
                CURLE_HTTP3, CURLE_QUIC_CONNECT_ERROR, CURLE_UNRECOVERABLE_POLL:
                (.connectionLost, "The connection was lost before the answer was complete")
            default:
                (.other, "The request failed")
            }
        }

        /// Whether a proxy refused: `CONNECT tunnel failed, response 407`, before 7.87 `Received HTTP code 407 from proxy after CONNECT`.
        private static func isAboutTunnel(_ detail: String) -> Bool {
            detail.contains("CONNECT")
        }

        /// libcurl has one code for a connection that broke and for framing that cannot be followed.
        private static func isAboutFraming(_ detail: String) -> Bool {
            let words = detail.lowercased()
            return words.contains("chunk") || words.contains("header") || words.contains("content-length")
        }

        /// What our own reading of the head found.
        init(head failure: HTTPHeadReader.Failure, host: String?) {
            let what =
                switch failure {
                case .malformedStatusLine: "its first line is no status line"
                case .malformedField: "it holds something that is no header field"
                case .tooLarge: "its head is larger than \(HTTPHeadReader.maximumBytes) bytes"
                }
            self.init(.badResponse, "The answer could not be read as HTTP: \(what)", host: host)
        }
    }
#endif
