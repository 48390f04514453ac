public import FeathersCore
public import FeathersNetworking
public import Foundation

/// Reads an HTTP response as the result of a service call, or as its error.
enum RESTAnswer {
    /// The response of a service: JSON null for an empty HTTP response, which is how FeathersJS sends `null`, `false` and `0` (204).
    /// - Parameter request: what was asked. If its caller holds the answer already, a 304 means that one (RFC 9110, section 15.4.5).
    /// - Throws: the server's ``FeathersError``; one that keeps the HTTP response if the body is not JSON.
    static func response(of response: HTTPResponse, to request: ServiceRequest) throws(FeathersError) -> ServiceResponse {
        var answer: ServiceResponse
        if response.status == 304, let held = request.params.heldAnswer {
            answer = ServiceResponse(held.value)
            answer[NotModified.self] = true
        } else {
            answer = try Self.response(of: response, keepsText: request.decodesResult)
        }
        answer[HTTPHead.self] = HTTPHead(response)
        if let tag = response.headers["ETag"] { answer[EntityTag.self] = tag }
        return answer
    }

    static func response(of response: HTTPResponse, keepsText: Bool) throws(FeathersError) -> ServiceResponse {
        guard try hasResult(response) else { return ServiceResponse(.null) }
        do {
            return try ServiceResponse(parsing: response.body, keepsText: keepsText)
        } catch {
            throw unreadable(response, error)
        }
    }

    private static func hasResult(_ response: HTTPResponse) throws(FeathersError) -> Bool {
        guard response.isSuccess else { throw error(of: response) }
        return response.status != 204 && !response.body.isEmpty
    }

    private static func unreadable(_ response: HTTPResponse, _ error: JSONParsingError) -> FeathersError {
        var failure = FeathersError(.generalError, "The server answered \(response.status) with a body that is not JSON", cause: error)
        failure.answer = FeathersError.Answer(status: response.status, body: response.body)
        return failure
    }

    /// The error an HTTP response carries, with how long it asks to wait.
    static func error(of response: HTTPResponse) -> FeathersError {
        var error = errorInBody(of: response)
        error.retryAfter = response.retryAfter()
        return error
    }

    private static func errorInBody(of response: HTTPResponse) -> FeathersError {
        if let json = try? JSONValue(parsing: response.body), let object = json.object {
            var error = FeathersError(wire: json, status: response.status)
            if object["name"] == nil, object["className"] == nil, object["code"] == nil {
                // Another error format: keep all of it.
                error.answer = FeathersError.Answer(status: response.status, body: response.body)
            }
            return error
        }
        let what = response.body.isEmpty ? "without a body" : "with a body that is no Feathers error"
        var error = FeathersError(FeathersError.Code(rawValue: response.status), "The server answered \(response.status) \(what)")
        error.answer = FeathersError.Answer(status: response.status, body: response.body)
        return error
    }
}

/// The head of an HTTP response, which calls over HTTP carry beside their result: `context.response?[HTTPHead.self]`.
public struct HTTPHead: ResponseKey, Sendable {
    public typealias Value = HTTPHead

    /// The HTTP status.
    public let status: Int
    /// The header fields.
    public let headers: HTTPHeaders
    /// The URL that answered, after redirects.
    public let url: URL

    package init(_ response: HTTPResponse) {
        (status, headers, url) = (response.status, response.headers, response.url)
    }
}
