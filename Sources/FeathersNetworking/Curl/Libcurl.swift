#if canImport(FoundationNetworking)
    import CCurl

    /// The libcurl of this process, which is the one that Foundation uses.
    enum Libcurl {
        /// The oldest supported version. Earlier ones lack `curl_multi_wakeup`, which prompt cancellation requires.
        private static let oldestVersion: UInt32 = 0x07_44_00

        /// The version of libcurl as 0xXXYYZZ, or the reason why it cannot be used. The first access initializes
        /// libcurl. Before 7.84, `curl_global_init` isn't thread-safe, so this must come before any other call; a
        /// static's initializer runs exactly once.
        static let version: Result<UInt32, HTTPClientError> = {
            guard ccurl_is_complete() else {
                return unusable("This process has no libcurl, or a version earlier than 7.68")
            }
            guard curl_global_init(CURL_GLOBAL_ALL) == CURLE_OK else {
                return unusable("libcurl could not be initialized")
            }
            let info = curl_version_info(0).pointee
            guard info.version_num >= oldestVersion else {
                let found = info.version.map { String(cString: $0) } ?? "an unnamed version"
                return unusable("libcurl 7.68 or later is required, but this process has \(found)")
            }
            return .success(info.version_num)
        }()

        private static func unusable(_ why: String) -> Result<UInt32, HTTPClientError> {
            .failure(HTTPClientError(.other, why, delivery: .neverSent))
        }

        static func words(for code: CURLcode) -> String { String(cString: curl_easy_strerror(code)) }
    }

    /// A multi handle that other threads can wake.
    ///
    /// Unchecked: `curl_multi_wakeup` is the only call that libcurl allows from any thread. It is made while holding
    /// the lock that the driving thread takes before it frees the handle. That thread makes all other calls.
    struct WakeableMulti: @unchecked Sendable { let multi: UnsafeMutableRawPointer }

    struct CurlError: Error, Sendable, CustomStringConvertible {
        /// The libcurl error code, such as 7 for `CURLE_COULDNT_CONNECT`.
        var code: Int
        /// libcurl's fixed text for the code. Its longer messages may quote data that was sent.
        var words: String

        var description: String { "\(words) (libcurl \(code))" }
    }

    extension HTTPClientError {
        /// Creates an error from a libcurl code. `detail` is libcurl's note about this transfer. `isSent` says whether
        /// any byte of the request was sent, which alone decides ``delivery``.
        init(curl code: CURLcode, detail: String, isSent: Bool, host: String?) {
            let (kind, message) = Self.meaning(of: code, detail)
            let cause = CurlError(code: Int(code.rawValue), words: Libcurl.words(for: code))
            self.init(kind, message, host: host, delivery: isSent ? .mayHaveExecuted : .neverSent, cause: cause)
        }

        private static func meaning(of code: CURLcode, _ detail: String) -> (Kind, String) {
            switch code {
            case CURLE_URL_MALFORMAT: (.invalidURL, "The URL cannot be requested")
            case CURLE_COULDNT_RESOLVE_HOST: (.hostNotFound, "The host was not found")
            case CURLE_COULDNT_RESOLVE_PROXY: (.hostNotFound, "The proxy was not found")
            case CURLE_RECV_ERROR where isAboutTunnel(detail), CURLE_COULDNT_CONNECT where isAboutTunnel(detail):
                (.cannotConnect, "The proxy could not connect to the server: \(detail)")
            case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_NO_CONNECTION_AVAILABLE:
                (.cannotConnect, "Could not connect to the server")
            case CURLE_PROXY: (.cannotConnect, "The proxy could not connect to the server")
            case CURLE_OPERATION_TIMEDOUT: (.timeout, "The request timed out")
            case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
                (.tls, "The server's certificate was rejected: \(detail)")
            case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE: (.tls, "The trusted certificates could not be read")
            case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT,
                CURLE_SSL_ENGINE_NOTFOUND,
                CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_SHUTDOWN_FAILED:
                (.tls, "The secure connection could not be established: \(detail)")
            case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_CHUNK_FAILED,
                CURLE_HTTP2,
                CURLE_OUT_OF_MEMORY, CURLE_TOO_LARGE:
                // The URL's scheme was checked earlier, so it is the response that uses an unsupported protocol. Before
                // 8.3, a head over the limit is reported as "out of memory".
                (.badResponse, "The response could not be read as HTTP")
            case CURLE_RECV_ERROR where isAboutFraming(detail): (.badResponse, "The response could not be read as HTTP")
            case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_SEND_FAIL_REWIND,
                CURLE_HTTP2_STREAM,
                CURLE_HTTP3, CURLE_QUIC_CONNECT_ERROR, CURLE_UNRECOVERABLE_POLL:
                (.connectionLost, "The connection was lost before the response was complete")
            default: (.other, "The request failed")
            }
        }

        /// Whether a proxy refused the tunnel: `CONNECT tunnel failed, response 407`, or before 7.87 `Received HTTP
        /// code 407 from proxy after CONNECT`.
        private static func isAboutTunnel(_ detail: String) -> Bool { detail.contains("CONNECT") }

        /// libcurl uses the same code for a broken connection and for invalid framing.
        private static func isAboutFraming(_ detail: String) -> Bool {
            let words = detail.lowercased()
            return words.contains("chunk") || words.contains("header") || words.contains("content-length")
        }

        init(head failure: HTTPHeadReader.Failure, host: String?) {
            let what =
                switch failure {
                case .malformedStatusLine: "its first line isn't a status line"
                case .malformedField: "it contains an invalid header field"
                case .invalidLength: "its Content-Length isn't a number, or has conflicting values"
                case .tooLarge: "its head is larger than \(HTTPHeadReader.maximumBytes) bytes"
                }
            self.init(.badResponse, "The response could not be read as HTTP: \(what)", host: host)
        }
    }
#endif
