import FeathersCore
import Foundation

/// Where an Engine.IO server is: the origin of a URL, a path with a slash at its end, and the query of both protocols.
struct EngineAddress: Sendable {
    private let origin: String
    private let path: String
    private let query: String

    /// - Throws: ``FeathersError/Code/badRequest`` where the URL has no host or is neither of http nor WebSocket.
    init(_ url: URL, path: String) throws(FeathersError) {
        let url = url.absoluteURL
        guard let scheme = url.scheme?.lowercased(), ["http", "https", "ws", "wss"].contains(scheme),
            let host = url.host(percentEncoded: true),
            !host.isEmpty
        else {
            throw FeathersError(
                .badRequest, "The URL of a Socket.IO server must be an http, https, ws or wss URL with a host", execution: .neverSent)
        }
        let bracketed = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        let isSecure = scheme == "https" || scheme == "wss"
        origin = (isSecure ? "https" : "http") + "://" + bracketed + (url.port.map { ":\($0)" } ?? "")
        let pieces = path.split(separator: "/").map { percentEncoded(component: String($0)) }
        self.path = "/" + pieces.map { $0 + "/" }.joined()
        query = url.query(percentEncoded: true).map { $0 + "&" } ?? ""
    }

    /// The host and port, to be named in messages.
    var place: String { String(origin.drop { $0 != "/" }.dropFirst(2)) }

    func url(transport: String, sid: String? = nil) throws(FeathersError) -> URL {
        let session = sid.map { "&sid=" + percentEncoded(component: $0) } ?? ""
        let text = "\(origin)\(path)?\(query)EIO=4&transport=\(transport)\(session)"
        guard let url = URL(string: text, encodingInvalidCharacters: false) else {
            throw FeathersError(.badRequest, "The path or query of the Socket.IO server makes no valid URL", execution: .neverSent)
        }
        return url
    }
}
