#if os(Linux)
    import CCurl
    import Foundation

    extension TLSConfiguration {
        /// Sets up a handle, for the server and for a proxy reached over TLS alike.
        func apply(to easy: UnsafeMutableRawPointer) {
            ccurl_set_long(easy, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
            let checksCertificate = verification != .dangerouslyOff
            let checksHostName = verification == .full
            for option in [CURLOPT_SSL_VERIFYPEER, CURLOPT_PROXY_SSL_VERIFYPEER] {
                ccurl_set_long(easy, option, checksCertificate ? 1 : 0)
            }
            for option in [CURLOPT_SSL_VERIFYHOST, CURLOPT_PROXY_SSL_VERIFYHOST] {
                // 2 checks; 1 was a debugging aid that libcurl no longer has.
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
            // A TLS library that cannot read directories refuses the option: the built-in bundle stays.
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
                // Also when empty: otherwise `no_proxy` of the environment would count.
                ccurl_set_string(easy, CURLOPT_NOPROXY, exceptions.joined(separator: ","))
            }
        }
    }
#endif
