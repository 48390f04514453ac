import FeathersCore
import FeathersNetworking
import FeathersSupport
import Foundation

/// Converts an endpoint's call, after its hooks ran, to an HTTP request and its body.
struct EndpointRequestBuilder<Response: Sendable>: Sendable {
    let endpoint: Endpoint<Response>
    let transport: RESTRequestBuilder
    /// Whether the request carries the header fields that the app and its hooks add.
    let carriesCredentials: Bool
    /// Whether the request carries the transport's own fields. They are meant for the transport's server, regardless of
    /// which app uses the transport.
    private let carriesTransportFields: Bool

    /// - Parameters:
    ///   - transport: The base URL and header fields of the transport that sends the request.
    ///   - params: The call's params, which fill the path's placeholders.
    ///   - isTrusted: A function that returns whether the app trusts a server.
    /// - Throws: ``FeathersError/Code/badRequest`` if the path is invalid.
    init(
        _ endpoint: Endpoint<Response>, _ transport: RESTRequestBuilder, _ params: Params,
        trusting isTrusted: (Origin?) -> Bool
    ) throws(FeathersError) {
        (self.endpoint, self.transport) = (endpoint, transport)
        switch endpoint.credentials {
        case .include: (carriesCredentials, carriesTransportFields) = (true, true)
        case .omit: (carriesCredentials, carriesTransportFields) = (false, false)
        case .sameOrigin:
            let server = try EndpointAddress(endpoint, route: params.route, base: transport.base).server
            (carriesCredentials, carriesTransportFields) = (
                isTrusted(server), server != nil && server == transport.base.origin
            )
        }
    }

    func url(for params: Params) throws -> URL {
        let address = try address(for: params).text
        let text = address + (try query(of: params, behind: address.contains("?")))
        guard let url = URL(string: text), url.absoluteString == text else {
            throw FeathersError.refused(
                "The path '\(EndpointAddress.name(of: endpoint.path))' does not form a valid URL")
        }
        return url
    }

    /// Returns what the response depends on besides the call's own header fields: the URL, how the response is read,
    /// and the transport's fields, as digests.
    func cacheKey(for params: Params) throws -> [String] {
        let fields = carriesTransportFields ? transport.headers : [:]
        let digests = fields.sorted { $0.key < $1.key }.map { "\($0.key.lowercased()):\(SHA256.hex($0.value.utf8))" }
        return [try url(for: params).absoluteString, endpoint.reading.kind.accept] + digests
    }

    func request(data: JSONValue?, params: Params) throws -> (HTTPRequest, HTTPBody?) {
        let (body, contentType) = try body(data)
        let url = try url(for: params)
        // `include` sends all fields. Otherwise, a token that another app lent to the caller is sent only to that app's
        // server.
        let given = endpoint.credentials == .include ? params.headers : params.headers(for: Origin(url))
        var headers = HTTPHeaders()
        do {
            try headers.set("Accept", to: endpoint.reading.kind.accept)
            if carriesTransportFields { try headers.setFields(transport.headers) }
            if let contentType { try headers.set("Content-Type", to: contentType.rawValue) }
            if let held = params.heldResponse { try headers.set("If-None-Match", to: held.entityTag) }
            try headers.setFields(carriesCredentials ? given : endpoint.headers)
        } catch {
            throw FeathersError(error)
        }
        let request = HTTPRequest(
            method: endpoint.method.rawValue, url: url, headers: headers, timeout: params.timeout,
            redirects: endpoint.redirects, maximumResponseBytes: transport.maximumResponseBytes)
        return (request, body)
    }

    private func address(for params: Params) throws(FeathersError) -> EndpointAddress {
        try EndpointAddress(endpoint, route: params.route, base: transport.base)
    }

    private func query(of params: Params, behind hasQuery: Bool) throws -> String {
        var parts: [String] = []
        if !params.query.isEmpty { parts.append(try params.query.queryString(transport.queryOptions)) }
        if !endpoint.queryItems.isEmpty { parts.append(endpoint.queryItems.formEncoded) }
        let text = parts.filter { !$0.isEmpty }.joined(separator: "&")
        return text.isEmpty ? "" : (hasQuery ? "&" : "?") + text
    }

    private func body(_ data: JSONValue?) throws -> (HTTPBody?, HTTPContentType?) {
        switch endpoint.body?.content {
        case .other(let make):
            let (body, contentType) = try make()
            return (body, contentType)
        case .json, nil:
            guard let data else { return (nil, nil) }
            do {
                return (HTTPBody(try data.serialized()), .json)
            } catch {
                throw FeathersError.refused("The body cannot be encoded as JSON: \(error)")
            }
        }
    }
}

/// The location of an endpoint, without its query.
struct EndpointAddress {
    /// The URL's text up to the query, or including the query that an absolute URL contains.
    let text: String
    /// The server at that location; nil if the text is not a URL.
    let server: Origin?

    /// - Throws: ``FeathersError/Code/badRequest`` that describes the problem with the path or the base URL.
    init(_ endpoint: Endpoint<some Sendable>, route: [String: String], base: RESTBaseURL) throws(FeathersError) {
        if Self.isAbsolute(endpoint.path) {
            text = try Self.absolute(endpoint.path)
        } else {
            text = try Self.relative(endpoint.path, route: route, to: endpoint.baseURL.map(RESTBaseURL.init) ?? base)
        }
        server = URL(string: text).flatMap { Origin($0) }
    }

    /// Returns the name used by hooks and messages: the path, or an absolute URL without user, query, and fragment,
    /// which may be secret.
    static func name(of path: String) -> String {
        guard isAbsolute(path) else { return path.trimmingCharacters(in: CharacterSet(charactersIn: "/")) }
        guard let url = URL(string: path), let scheme = url.scheme, let host = url.hostAndPort else {
            return String(path.prefix { $0 != "?" && $0 != "#" && $0 != "@" })
        }
        return "\(scheme)://\(host)\(url.path())"
    }

    private static func isAbsolute(_ path: String) -> Bool {
        guard let end = path.firstRange(of: "://")?.lowerBound, let first = path.unicodeScalars.first,
            first.properties.isAlphabetic
        else {
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
            throw .refused("'\(name(of: path))' is not an http or https URL with a host")
        }
        return url.absoluteString
    }

    private static func relative(_ path: String, route: [String: String], to base: RESTBaseURL) throws(FeathersError)
        -> String
    {
        for (mark, advice) in [("?", "pass the query as 'query' or 'queryItems'"), ("#", "encode it as %23")]
        where path.contains(mark) {
            throw .refused("The path '\(path.prefix { String($0) != mark })\(mark)…' contains a '\(mark)': \(advice)")
        }
        guard !path.hasPrefix("//") else {
            throw .refused("The path '\(path)' starts with two slashes: an absolute URL requires a scheme")
        }
        var text = try base.text()
        if path.contains(where: { $0 != "/" }) { try RESTPath.append(endpoint: path, route: route, to: &text) }
        if path.hasSuffix("/") { text += "/" }
        return text
    }
}
