#if canImport(FoundationNetworking)
    import CCurl
    import FeathersSupport
    import Foundation

    /// The connection settings of a ``CurlHTTPClient``.
    struct CurlSettings: Sendable {
        var tls = TLSConfiguration()
        var proxy = NetworkProxy.environment
        var connectTimeout = Duration.seconds(60)
        var maximumConnectionsPerHost = 128
        var maximumWaitingRequestsPerHost = 20_000
        var idleTimeout = Duration.seconds(30)
        var maximumConnectionAge: Duration? = .seconds(120)

        var turnQueue: TurnQueue<ObjectIdentifier> {
            TurnQueue(limit: maximumConnectionsPerHost, capacity: maximumWaitingRequestsPerHost)
        }

        /// Configures a new handle.
        func apply(to easy: UnsafeMutableRawPointer) {
            ccurl_set_long(easy, CURLOPT_NOSIGNAL, 1)
            ccurl_set_long(easy, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS)
            ccurl_set_long(easy, CURLOPT_PATH_AS_IS, 1)
            ccurl_set_long(easy, CURLOPT_TCP_NODELAY, 1)
            ccurl_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
            ccurl_set_long(easy, CURLOPT_HTTP09_ALLOWED, 0)
            ccurl_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
            // HTTP/2 is used if TLS negotiates it (see `CurlTransfer.begin`). A build without HTTP/2 rejects the option
            // and stays with 1.1. (CURLOPT_PIPEWAIT would save connections, but would make a second request to an
            // HTTP/1.1 server wait for the first response.)
            // Allows name resolution to be abandoned without waiting for the resolver (see `CurlMulti.lingers`).
            ccurl_set_long(easy, CURLOPT_QUICK_EXIT, 1)
            ccurl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(connectTimeout.milliseconds))
            // Rejected by versions before 7.80, whose connections have no maximum age.
            if let age = maximumConnectionAge?.clamped.components.seconds {
                ccurl_set_long(easy, CURLOPT_MAXLIFETIME_CONN, max(Int(age), 1))
            }
            ccurl_set_string(easy, CURLOPT_ACCEPT_ENCODING, "")
            tls.apply(to: easy)
            proxy.apply(to: easy)
        }
    }

    extension TLSConfiguration {
        /// Configures a handle, both for the server and for a proxy reached over TLS.
        func apply(to easy: UnsafeMutableRawPointer) {
            ccurl_set_long(easy, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
            let checksCertificate = verification != .dangerouslyOff
            let checksHostName = verification == .full
            for option in [CURLOPT_SSL_VERIFYPEER, CURLOPT_PROXY_SSL_VERIFYPEER] {
                ccurl_set_long(easy, option, checksCertificate ? 1 : 0)
            }
            for option in [CURLOPT_SSL_VERIFYHOST, CURLOPT_PROXY_SSL_VERIFYHOST] {
                // 2 verifies the host name; 1 was a debugging aid that libcurl no longer supports.
                ccurl_set_long(easy, option, checksHostName ? 2 : 0)
            }
            switch trust {
            case .certificates(let file): Self.trust(file: file.path, on: easy)
            case .system:
                switch SystemTrust.found {
                case .directory(let path): Self.trust(directory: path, on: easy)
                case .file(let path): Self.trust(file: path, on: easy)
                case .builtIn: break
                }
            }
        }

        private static func trust(file: String, on easy: UnsafeMutableRawPointer) {
            for option in [CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO] { ccurl_set_string(easy, option, file) }
            for option in [CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH] { ccurl_set_string(easy, option, nil) }
        }

        private static func trust(directory: String, on easy: UnsafeMutableRawPointer) {
            // A TLS library that cannot read directories rejects the option. In that case, the built-in bundle stays in
            // effect.
            guard ccurl_set_string(easy, CURLOPT_CAPATH, directory) == CURLE_OK else { return }
            ccurl_set_string(easy, CURLOPT_PROXY_CAPATH, directory)
            for option in [CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO] { ccurl_set_string(easy, option, nil) }
        }
    }

    extension NetworkProxy {
        func apply(to easy: UnsafeMutableRawPointer) {
            switch self {
            case .environment: break
            case .none: ccurl_set_string(easy, CURLOPT_PROXY, "")
            case .url(let url, let exceptions):
                ccurl_set_string(easy, CURLOPT_PROXY, url)
                // Set even if empty: otherwise, `no_proxy` from the environment would apply.
                ccurl_set_string(easy, CURLOPT_NOPROXY, exceptions.joined(separator: ","))
            }
        }
    }

    /// The place where this system stores its trusted certificates. A statically linked libcurl has no default, so the
    /// usual places are searched, as Foundation does.
    enum SystemTrust: Hashable, Sendable {
        /// A directory of certificates named by the hashes of their subjects. Only the certificates that a connection
        /// needs are read: 2 ms and 57 KB per connection, instead of 42 ms and 870 KB with a bundle (libcurl 7.88,
        /// OpenSSL 3).
        case directory(String)
        case file(String)
        /// The default that libcurl was built with.
        case builtIn

        static let found = search(environment: ProcessInfo.processInfo.environment)

        private static let directories = ["/etc/ssl/certs", "/etc/pki/tls/certs"]

        private static let files = [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
            "/usr/share/ssl/certs/ca-bundle.crt",
            "/usr/local/share/certs/ca-root-nss.crt", "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem",
        ]

        /// Searches for the trusted certificates. `SSL_CERT_FILE` is OpenSSL's variable,
        /// `URLSessionCertificateAuthorityInfoFile` Foundation's. Foundation's value for turning verification off isn't
        /// a file, and is ignored.
        static func search(environment: [String: String]) -> SystemTrust {
            for name in ["SSL_CERT_FILE", "URLSessionCertificateAuthorityInfoFile"] {
                if let path = environment[name], FileManager.default.isReadableFile(atPath: path) { return .file(path) }
            }
            if let directory = directories.first(where: isHashed) { return .directory(directory) }
            if let file = files.first(where: FileManager.default.isReadableFile(atPath:)) { return .file(file) }
            return .builtIn
        }

        /// Whether a directory holds a complete set of certificates named by their hashes, not just a few that were
        /// added manually.
        static func isHashed(_ directory: String) -> Bool {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
            return names.count { $0.hasSuffix(".0") && $0.utf8.count == 10 } >= 50
        }
    }
#endif
