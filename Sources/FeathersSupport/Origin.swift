package import Foundation

/// A server, as secrets know it: scheme, host and port.
///
/// What belongs to one origin goes to no other. Scheme and host compare without regard to case, a missing port is the scheme's own, and
/// `ws` is `http`, `wss` is `https`: a WebSocket leads to the server that answers HTTP there.
package struct Origin: Hashable, Sendable {
    private let scheme: String
    private let host: String
    private let port: Int

    /// Nil where the URL leads to no server: it has no host, or another scheme.
    package init?(_ url: URL) {
        let url = url.absoluteURL
        guard let scheme = url.scheme?.lowercased(), let host = url.host(percentEncoded: true)?.lowercased(), !host.isEmpty else {
            return nil
        }
        switch scheme {
        case "http", "ws": (self.scheme, port) = ("http", url.port ?? 80)
        case "https", "wss": (self.scheme, port) = ("https", url.port ?? 443)
        default: return nil
        }
        self.host = host
    }
}
