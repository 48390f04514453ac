import FeathersCore
import FeathersNetworking
import Foundation

/// Converts a service request to an HTTP request, with verb, URL, headers, and body as in FeathersJS' REST client. All errors are thrown
/// before anything is sent, as ``FeathersError/Code/badRequest`` or as the query's own error.
struct RESTRequestBuilder: Sendable {
    let base: RESTBaseURL
    let headers: [String: String]
    let timeout: Duration?
    let queryOptions: QueryStringOptions
    var maximumResponseBytes = HTTPRequest.defaultMaximumResponseBytes

    func httpRequest(for request: ServiceRequest) throws -> HTTPRequest {
        let verb = HTTPMethod(request.method)
        var httpRequest = HTTPRequest(
            method: verb.rawValue,
            url: try url(for: request),
            headers: try fields(for: request, verb),
            timeout: request.params.timeout ?? timeout,
            maximumResponseBytes: maximumResponseBytes
        )
        if verb.carriesData, let data = request.data, !data.isNull {
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
        var text = try base.text()
        try RESTPath.append(request.path, route: request.params.route, to: &text)
        if let id = try id(of: request) { try RESTPath.append(id, to: &text) }
        if !request.params.query.isEmpty {
            let query = try request.params.query.queryString(queryOptions)
            if !query.isEmpty { text += "?" + query }
        }
        // Sends exactly the text built above, never re-encoded. (A comparison is much faster than telling URL not to encode.)
        guard let url = URL(string: text), url.absoluteString == text else {
            throw FeathersError.refused("The path '\(request.path)' does not form a valid URL")
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
            try fields.set("Accept", to: "application/json")
            try fields.merge(headers)
            if verb.carriesData { try fields.set("Content-Type", to: "application/json") }
            if request.method.isCustom { try fields.set("X-Service-Method", to: request.method.rawValue) }
            if let held = request.params.heldAnswer { try fields.set("If-None-Match", to: held.entityTag) }
            try fields.merge(request.params.headers(for: base.origin))
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
