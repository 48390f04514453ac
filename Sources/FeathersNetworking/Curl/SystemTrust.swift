#if os(Linux)
    import Foundation

    /// Where this system keeps the certificates it trusts.
    ///
    /// A statically linked libcurl knows no place, so the usual ones are searched, as Foundation does.
    enum SystemTrust: Hashable, Sendable {
        /// Certificates under the hashes of their subjects. Only what a connection needs is read: 2 ms instead of 42 ms
        /// and 57 KB instead of 870 KB for each connection with a bundle (libcurl 7.88, OpenSSL 3).
        case directory(String)
        /// All certificates in one file.
        case file(String)
        /// Whatever libcurl was built with.
        case builtIn

        /// Looked for once.
        static let found = search(environment: ProcessInfo.processInfo.environment)

        private static let directories = ["/etc/ssl/certs", "/etc/pki/tls/certs"]

        private static let files = [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/usr/share/ssl/certs/ca-bundle.crt",
            "/usr/local/share/certs/ca-root-nss.crt", "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem",
        ]

        /// - Parameter environment: `SSL_CERT_FILE` is OpenSSL's own variable, `URLSessionCertificateAuthorityInfoFile` Foundation's.
        ///   Foundation's word for switching verification off is no file, and is not heeded.
        static func search(environment: [String: String]) -> SystemTrust {
            for name in ["SSL_CERT_FILE", "URLSessionCertificateAuthorityInfoFile"] {
                if let path = environment[name], FileManager.default.isReadableFile(atPath: path) { return .file(path) }
            }
            if let directory = directories.first(where: isHashed) { return .directory(directory) }
            if let file = files.first(where: FileManager.default.isReadableFile(atPath:)) { return .file(file) }
            return .builtIn
        }

        /// Whether a directory holds a whole set of certificates under their hashes, not just a few that somebody added.
        static func isHashed(_ directory: String) -> Bool {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
            return names.count { $0.hasSuffix(".0") && $0.utf8.count == 10 } >= 50
        }
    }
#endif
