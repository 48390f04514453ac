import Foundation

/// Where a WebSocket leads, taken apart for those who connect.
struct WebSocketTarget: Sendable {
    var isSecure: Bool
    /// Host and explicit port, as in a `Host` field: an address of IPv6 in brackets, a name in ASCII.
    var host: String
    /// Path and query, percent-encoded.
    var target: String
    /// From the URL's user and password, for `Authorization`.
    private var credentials: String?

    /// - Throws: ``WebSocketError`` of kind ``WebSocketError/Kind/invalidURL`` without host or with another scheme than `ws`, `wss`, `http` or `https`.
    init(_ url: URL) throws(WebSocketError) {
        switch url.scheme?.lowercased() {
        case "ws", "http": isSecure = false
        case "wss", "https": isSecure = true
        default: throw WebSocketError(.invalidURL, "The URL is no ws or wss URL")
        }
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true), let name = parts.encodedHost, !name.isEmpty else {
            throw WebSocketError(.invalidURL, "The URL has no host")
        }
        guard parts.port.map((1...65535).contains) ?? true else { throw WebSocketError(.invalidURL, "The URL's port is not valid") }
        let bracketed = name.contains(":") && !name.hasPrefix("[") ? "[\(name)]" : name
        host = parts.port.map { "\(bracketed):\($0)" } ?? bracketed
        let path = parts.percentEncodedPath
        target = (path.isEmpty ? "/" : path) + (parts.percentEncodedQuery.map { "?" + $0 } ?? "")
        credentials = parts.user.map { Base64.encoded("\($0):\(parts.password ?? "")".utf8) }
    }

    /// What libcurl is to connect to.
    var curlURL: String { "\(isSecure ? "https" : "http")://\(host)/" }

    func openingRequest(_ headers: HTTPHeaders) -> WebSocketOpeningRequest {
        var fields = Array(headers)
        if let credentials, headers["Authorization"] == nil {
            fields.append((name: "Authorization", value: "Basic \(credentials)"))
        }
        return WebSocketOpeningRequest(target: target, host: host, fields: fields)
    }
}
