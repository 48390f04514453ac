#if os(Linux)
    import CCurl

    /// The libcurl of this process: the one Foundation itself works with.
    enum Libcurl {
        /// Where libcurl lacks something we need: what, for a human.
        struct Unusable: Error, Sendable, CustomStringConvertible {
            let description: String
        }

        /// Below this there is no `curl_multi_wakeup`, hence no prompt cancellation.
        private static let oldestVersion: UInt32 = 0x07_44_00

        /// The version of libcurl as 0xXXYYZZ, or why it cannot be used.
        ///
        /// Asking initialises libcurl, once: before 7.84 `curl_global_init` is not thread-safe, so this must come before any use, and
        /// a static's initialiser runs once whoever comes first.
        static let version: Result<UInt32, Unusable> = {
            guard ccurl_is_complete() else {
                return .failure(Unusable(description: "This program holds no libcurl, or one before 7.68"))
            }
            guard curl_global_init(CURL_GLOBAL_ALL) == CURLE_OK else {
                return .failure(Unusable(description: "libcurl could not be initialised"))
            }
            let info = curl_version_info(0).pointee
            guard info.version_num >= oldestVersion else {
                let found = info.version.map { String(cString: $0) } ?? "one without a name"
                return .failure(Unusable(description: "libcurl 7.68 or later is needed, this process holds \(found)"))
            }
            return .success(info.version_num)
        }()

        /// libcurl's own words for a code.
        static func words(for code: CURLcode) -> String {
            String(cString: curl_easy_strerror(code))
        }
    }
#endif
