public import Foundation

/// The script server over TLS.
///
/// Its certificate is self-signed: nobody trusts it who was not told to.
public struct SecureScriptServer: Sendable {
    /// `https://localhost:PORT`, the name the certificate is for.
    public let url: URL
    /// The certificate, which is its own authority.
    public let certificate: URL

    /// - Parameter line: `localhost:PORT FILE`.
    init?(_ line: String) {
        let parts = line.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let url = URL(string: "https://" + parts[0]) else { return nil }
        self.url = url
        certificate = URL(filePath: String(parts[1]))
    }

    /// The same server under a name the certificate is not for.
    public var misnamedURL: URL {
        var components = URLComponents(url: url, resolvingAgainstBaseURL: false)
        components?.host = "127.0.0.1"
        return components?.url ?? url
    }
}
