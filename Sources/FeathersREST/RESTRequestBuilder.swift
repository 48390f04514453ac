import FeathersCore
import FeathersNetworking
import Foundation

/// Converts a service request to an HTTP request, with verb, URL, headers, and body as in FeathersJS' REST client. All
/// errors are thrown before anything is sent, as ``FeathersError/Code/badRequest`` or as the query's own error.
struct RESTRequestBuilder: Sendable {
    let base: RESTBaseURL
    let headers: [String: String]
    let timeout: Duration?
    let queryOptions: QueryStringOptions
    var maximumResponseBytes = HTTPRequest.defaultMaximumResponseBytes
    /// Whether null is sent as `{}`: FeathersJS 6 refuses JSON without a body, and version 5 reads it as `{}`.
    var sendsEmptyObjects = false

    func httpRequest(for request: ServiceRequest) throws -> HTTPRequest {
        let verb = HTTPMethod(request.method)
        var httpRequest = HTTPRequest(
            method: verb.rawValue,
            url: try url(for: request),
            headers: try fields(for: request, verb),
            timeout: request.params.timeout ?? (request.params.uploadContent == nil ? timeout : nil),
            redirects: .followSameMethod(maximum: 20), maximumResponseBytes: maximumResponseBytes
        )
        guard verb.carriesData, request.params.uploadContent == nil else { return httpRequest }
        let isNull = request.data?.isNull ?? true
        if let data = isNull && sendsEmptyObjects ? [:] : request.data, !data.isNull {
            // Null is sent as an empty body, which a Feathers server reads as {}.
            do {
                httpRequest.body = try data.serialized()
            } catch {
                throw FeathersError.refused("The data cannot be encoded as JSON: \(error)")
            }
        }
        return httpRequest
    }

    private func url(for request: ServiceRequest) throws -> URL {
        try url(path: request.path, route: request.params.route, id: try id(of: request), query: request.params.query)
    }

    func url(path: String, route: [String: String] = [:], id: ServiceID? = nil, query: Query<JSONValue>) throws -> URL {
        var text = try base.text()
        try RESTPath.append(service: path, route: route, to: &text)
        if let id { try RESTPath.append(id, to: &text) }
        if !query.isEmpty {
            let query = try query.queryString(queryOptions)
            if !query.isEmpty { text += "?" + query }
        }
        // Sends exactly the text built above, never re-encoded. (A comparison is much faster than telling URL not to
        // encode.)
        guard let url = URL(string: text), url.absoluteString == text else {
            throw FeathersError.refused("The path '\(path)' does not form a valid URL")
        }
        return url
    }

    private func id(of request: ServiceRequest) throws(FeathersError) -> ServiceID? {
        switch request.method {
        case .get:
            guard let id = request.id else { throw .refused("id for 'get' can not be undefined") }
            return id
        case .update, .patch, .remove: return request.id
        default: return nil
        }
    }

    /// Returns Accept, then the app's fields, those for the body, and the call's. Later fields win, regardless of case.
    private func fields(for request: ServiceRequest, _ verb: HTTPMethod) throws(FeathersError) -> HTTPHeaders {
        var fields = HTTPHeaders()
        do {
            try fields.set(
                "Accept", to: request.streamsResult ? "text/event-stream, application/json;q=0.9" : "application/json")
            try fields.setFields(headers)
            if verb.carriesData, request.params.uploadContent == nil {
                try fields.set("Content-Type", to: "application/json")
            }
            if request.method.isCustom { try fields.set("X-Service-Method", to: request.method.rawValue) }
            if let held = request.params.heldResponse { try fields.set("If-None-Match", to: held.entityTag) }
            try fields.setFields(request.params.headers(for: base.origin))
        } catch {
            throw FeathersError(error)
        }
        return fields
    }
}

extension HTTPMethod {
    /// Creates the HTTP method for a service method. A custom method is named in X-Service-Method.
    fileprivate init(_ method: ServiceMethod) {
        self =
            switch method {
            case .find, .get: .get
            case .update: .put
            case .patch: .patch
            case .remove: .delete
            default: .post
            }
    }

    /// Whether requests with this method have, or may have, a body.
    fileprivate var carriesData: Bool { [.post, .put, .patch].contains(self) }
}
