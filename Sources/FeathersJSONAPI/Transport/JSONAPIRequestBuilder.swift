import FeathersCore
import FeathersNetworking
import Foundation

/// Turns a service request into an HTTP request as JSON:API has it.
///
/// Everything here fails before anything is sent.
struct JSONAPIRequestBuilder: Sendable {
    let base: RESTBaseURL
    let headers: [String: String]
    let timeout: Duration?
    let codec: JSONAPICodec
    let options: JSONAPIOptions

    func exchange(for request: ServiceRequest) throws -> JSONAPIExchange {
        if let method = JSONAPIMethod(request.method) { return try exchange(for: request, method) }
        switch request.method {
        case .find:
            let query = request.params.query
            func count(_ name: String) -> Int? { query.json[name]?.integer.flatMap { Int(exactly: $0) } }
            var found = try exchange(request, "GET", try url(of: request), .collection(limit: count("$limit"), skip: count("$skip")))
            if query.json["id"]?["$in"]?.array?.isEmpty == true { found.knownResult = ["total": 0, "data": []] }
            return found
        case .get:
            guard let id = request.id else { throw FeathersError.refused("id for 'get' can not be undefined") }
            return try exchange(request, "GET", url(of: request, id.description), .resource)
        case .create: return try creation(request)
        case .patch: return try change(request)
        case .remove:
            guard let id = request.id else { return try removals(request) }
            let sent: JSONObject = ["id": .string(id.description), "type": .string(options.type(ofPath: request.path))]
            return try exchange(request, "DELETE", url(of: request, id.description), .change(sent: sent))
        case .update:
            throw FeathersError(
                .methodNotAllowed, "JSON:API has no method that replaces a resource as a whole: use 'patch'", execution: .neverSent)
        case .custom(let name):
            throw FeathersError(.methodNotAllowed, "JSON:API has no method '\(name)'", execution: .neverSent)
        }
    }

    /// Puts a request together: media types, header fields, body, and the parameters of its query.
    func exchange(
        _ request: ServiceRequest, _ method: String, _ url: String, _ expectation: JSONAPIExchange.Expectation,
        body: JSONAPIDocument? = nil, as role: JSONAPIDocument.Role = .response, extensions: [String] = []
    ) throws -> JSONAPIExchange {
        var text = url
        let query = request.params.query
        if query.json["$link"] == nil {
            let items = try QueryItems(options: options, keys: codec.keys).items(of: query, type: options.type(ofPath: request.path))
            if !items.isEmpty { text += (text.contains("?") ? "&" : "?") + items.map(\.encoded).joined(separator: "&") }
        }
        guard let target = URL(string: text), target.absoluteString == text else {
            throw FeathersError.refused("The path '\(request.path)' does not make a valid URL")
        }
        var bytes: [UInt8]?
        do throws(JSONAPIError) {
            bytes = try body?.serialized(as: role)
        } catch {
            throw FeathersError(.badRequest, "The data make no JSON:API document: \(error)", execution: .neverSent, cause: error)
        }
        let http = HTTPRequest(
            method: method, url: target, headers: try fields(for: request, hasBody: bytes != nil, extensions: extensions), body: bytes,
            timeout: request.params.timeout ?? timeout)
        let include = query.json["$include"]?.array?.compactMap { $0.string.map(codec.keys.wirePath) }
        return JSONAPIExchange(request: http, expectation: expectation, include: include)
    }

    /// The URL of a service, of a resource or of something below one; or the one a link of the server's says.
    func url(of request: ServiceRequest, _ below: String...) throws -> String {
        if let link = request.params.query.json["$link"]?.string { return try checked(link: link) }
        var text = try base.text()
        try RESTPath.append(request.path, route: request.params.route, to: &text)
        for segment in below { try RESTPath.append(ServiceID(segment), to: &text) }
        return text
    }

    /// A link of the server's; one that leads to another origin is refused, since header fields may be secrets.
    func checked(link: String) throws -> String {
        guard let base = URL(string: try base.text() + "/"), let url = URL(link: link, relativeTo: base), url.isRequestable
        else {
            throw FeathersError.refused("The link is no http or https URL")
        }
        guard url.origin == base.origin else {
            throw FeathersError.refused(
                "The link leads to \(url.hostAndPort ?? "another host"), away from \(base.hostAndPort ?? "the base URL")")
        }
        return url.absoluteString
    }

    /// Accept, then the app's fields, then what the body needs, then the call's own: later ones win, whatever their case.
    private func fields(for request: ServiceRequest, hasBody: Bool, extensions: [String]) throws(FeathersError) -> HTTPHeaders {
        let mediaType = JSONAPIMediaType(extensions: options.extensions + extensions, profiles: options.profiles)
        var fields = HTTPHeaders()
        do {
            try fields.set("Accept", to: mediaType.accept)
            try fields.merge(headers)
            if hasBody { try fields.set("Content-Type", to: mediaType.contentType) }
            if let held = ConditionalRead.of(request)?.held { try fields.set("If-None-Match", to: held.entityTag) }
            try fields.merge(request.params.headers)
        } catch {
            throw FeathersError(error)
        }
        return fields
    }
}
