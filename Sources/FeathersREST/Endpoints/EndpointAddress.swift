import FeathersCore
import FeathersNetworking
import Foundation

/// Where an endpoint is, without its query.
struct EndpointAddress {
    /// The URL's text up to the query, or with the one an absolute URL has.
    let text: String
    /// Whether that is the origin of the transport's base URL.
    let isHome: Bool

    /// - Throws: ``FeathersError/Code/badRequest`` that says what is wrong with the path or the base URL.
    init(_ endpoint: EndpointBlueprint, route: [String: String], base: RESTBaseURL) throws(FeathersError) {
        if Self.isAbsolute(endpoint.path) {
            text = try Self.absolute(endpoint.path)
        } else {
            text = try Self.relative(endpoint.path, route: route, to: endpoint.baseURL.map(RESTBaseURL.init) ?? base)
        }
        isHome = URL(string: text)?.origin == URL(string: try base.text())?.origin
    }

    /// What hooks and messages call the endpoint: its path, or an absolute URL without user, query and fragment, which may be secrets.
    static func name(of path: String) -> String {
        guard isAbsolute(path) else { return path.trimmingCharacters(in: CharacterSet(charactersIn: "/")) }
        guard let url = URL(string: path), let scheme = url.scheme, let host = url.hostAndPort else {
            return String(path.prefix { $0 != "?" && $0 != "#" && $0 != "@" })
        }
        return "\(scheme)://\(host)\(url.path())"
    }

    private static func isAbsolute(_ path: String) -> Bool {
        guard let end = path.firstRange(of: "://")?.lowerBound, let first = path.unicodeScalars.first, first.properties.isAlphabetic else {
            return false
        }
        return path[..<end].utf8.allSatisfy { byte in
            byte < 0x80 && (Unicode.Scalar(byte).properties.isAlphabetic || "0123456789+-.".utf8.contains(byte))
        }
    }

    private static func absolute(_ path: String) throws(FeathersError) -> String {
        // A fragment is never sent (RFC 9110, section 7.1).
        let text = String(path.prefix { $0 != "#" })
        guard let url = URL(string: text), url.isRequestable else {
            throw .refused("'\(name(of: path))' is no http or https URL with a host")
        }
        return url.absoluteString
    }

    private static func relative(_ path: String, route: [String: String], to base: RESTBaseURL) throws(FeathersError) -> String {
        for (mark, advice) in [("?", "say the query with 'query' or 'queryItems'"), ("#", "encode it as %23")] where path.contains(mark) {
            throw .refused("The path '\(path.prefix { String($0) != mark })\(mark)…' holds a '\(mark)': \(advice)")
        }
        guard !path.hasPrefix("//") else { throw .refused("The path '\(path)' starts with two slashes: an absolute URL needs its scheme") }
        var text = try base.text()
        if path.contains(where: { $0 != "/" }) { try RESTPath.append(path, route: route, to: &text) }
        if path.hasSuffix("/") { text += "/" }
        return text
    }
}
