package import Foundation

/// The origin of a server for decisions about secrets: scheme, host and port.
///
/// Secrets of one origin are never sent to another. Scheme and host are case-insensitive, and a missing port is the
/// scheme's default. `ws` equals `http`, and `wss` equals `https`, because a WebSocket connects to the server that
/// handles HTTP there.
package struct Origin: Hashable, Sendable, CustomStringConvertible {
    private let scheme: String
    private let host: String
    private let port: Int

    /// Returns nil if the URL does not identify a server: it has no host, or another scheme.
    package init?(_ url: URL) {
        let url = url.absoluteURL
        guard let scheme = url.scheme?.lowercased(), let host = url.host(percentEncoded: true)?.lowercased(),
            !host.isEmpty
        else {
            return nil
        }
        switch scheme {
        case "http", "ws": (self.scheme, port) = ("http", url.port ?? 80)
        case "https", "wss": (self.scheme, port) = ("https", url.port ?? 443)
        default: return nil
        }
        self.host = host
    }

    /// The origin as browsers write it: `https://example.com`, with a port that is not the scheme's default.
    package var description: String {
        port == (isEncrypted ? 443 : 80) ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
    }

    /// Whether requests to the server are encrypted.
    package var isEncrypted: Bool { scheme == "https" }
}
