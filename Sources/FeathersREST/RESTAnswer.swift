import FeathersCore
import FeathersNetworking

/// Reads an HTTP answer as the result of a service call, or as its error.
enum RESTAnswer {
    /// The service's result: JSON null for an empty answer, which is how FeathersJS sends `null`, `false` and `0` (204).
    /// - Throws: the server's ``FeathersError``; one with the answer kept where the body is no JSON.
    static func result(of response: HTTPResponse) throws(FeathersError) -> JSONValue {
        guard try hasResult(response) else { return .null }
        do {
            return try JSONValue(parsing: response.body)
        } catch {
            throw unreadable(response, error)
        }
    }

    /// The same, as the text it came in where that serves.
    static func callResult(of response: HTTPResponse) throws(FeathersError) -> CallResult {
        guard try hasResult(response) else { return .value(.null) }
        do {
            if let text = try JSONTape.marking(response.body) { return .text(text) }
            return .value(try JSONValue(parsing: response.body))
        } catch {
            throw unreadable(response, error)
        }
    }

    private static func hasResult(_ response: HTTPResponse) throws(FeathersError) -> Bool {
        guard (200..<300).contains(response.status) else { throw error(of: response) }
        return response.status != 204 && !response.body.isEmpty
    }

    private static func unreadable(_ response: HTTPResponse, _ error: JSONParsingError) -> FeathersError {
        var failure = FeathersError(.generalError, "The server answered \(response.status) with a body that is no JSON", cause: error)
        failure.answer = FeathersError.Answer(status: response.status, body: response.body)
        return failure
    }

    /// The result of a read whose caller may hold it already: that one where the server answers 304 (RFC 9110, section 15.4.5).
    static func result(of response: HTTPResponse, to read: ConditionalRead) throws(FeathersError) -> JSONValue {
        if response.status == 304, let held = read.held {
            read.note(.notModified)
            return held.value
        }
        let value = try result(of: response)
        read.note(.answered(response.headers["ETag"].map { ConditionalRead.Answer(entityTag: $0, value: value) }))
        return value
    }

    /// The error an answer carries, with how long it asks to wait.
    static func error(of response: HTTPResponse) -> FeathersError {
        var error = errorInBody(of: response)
        error.retryAfter = response.retryAfter()
        return error
    }

    private static func errorInBody(of response: HTTPResponse) -> FeathersError {
        if let json = try? JSONValue(parsing: response.body), let object = json.object {
            var error = FeathersError(wire: json, status: response.status)
            if object["name"] == nil, object["className"] == nil, object["code"] == nil {
                // Somebody else's error format: nothing of it should be lost.
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
