public import FeathersCore
public import FeathersNetworking
public import Foundation

/// Reads an HTTP response as the result of a service call, or as its error.
enum RESTResponse {
    /// Returns a service's response. An empty HTTP response is JSON null, because FeathersJS sends `null`, `false`, and
    /// `0` that way (204). If the caller holds a cached response, a 304 means that it is still valid (RFC 9110, section
    /// 15.4.5).
    ///
    /// A body that is not JSON is not FeathersJS' response, but for example the page of a captive portal. It says
    /// nothing about the call.
    /// - Parameter url: The URL of the request, before redirects.
    /// - Throws: The server's ``FeathersError``, or one that includes the HTTP response: if the body is not JSON, with
    ///   the code ``FeathersError/Code/unavailable``.
    static func response(of response: HTTPResponse, to request: ServiceRequest, requestedAt url: URL)
        throws(FeathersError) -> ServiceResponse
    {
        if let error = response.otherHostError(requestedAt: url, signsIn: request.params.concernsConnection) {
            throw error
        }
        var result: ServiceResponse
        if response.status == 304, let held = request.params.heldResponse {
            result = ServiceResponse(held.value)
            result[NotModified.self] = true
        } else {
            do {
                result = try Self.response(of: response)
            } catch {
                throw response.isSuccess && response.isEventStream ? .streams(request.method, of: request.path) : error
            }
            // A body that is an event stream does not parse as JSON, so only an empty one gets here.
            guard !response.body.isEmpty || !response.isEventStream else {
                throw .streams(request.method, of: request.path)
            }
        }
        result[HTTPHead.self] = HTTPHead(response)
        result[EntityTag.self] = EntityTag.checked(response.headers["ETag"])
        return result
    }

    static func response(of response: HTTPResponse) throws(FeathersError) -> ServiceResponse {
        guard response.isSuccess else { throw error(of: response) }
        guard response.status != 204, !response.body.isEmpty else { return ServiceResponse(.null) }
        do {
            return try ServiceResponse(JSONValue(parsing: response.jsonText))
        } catch {
            throw response.foreignError(
                "The server returned status \(response.status) with a non-JSON body", cause: error)
        }
    }

    /// Returns the error of a response that is not a success.
    /// - Parameter url: The URL of the request, before redirects.
    static func error(of response: HTTPResponse, requestedAt url: URL) -> FeathersError {
        response.otherHostError(requestedAt: url) ?? error(of: response)
    }

    static func error(of response: HTTPResponse) -> FeathersError {
        var error: FeathersError
        var isForeign = true
        if let json = try? JSONValue(parsing: response.jsonText), let object = json.object {
            error = FeathersError(wire: json, status: response.status)
            isForeign = object["name"] == nil && object["className"] == nil && object["code"] == nil
        } else {
            let what = response.body.isEmpty ? "without a body" : "with a body that is not a Feathers error"
            error = FeathersError(
                FeathersError.Code(rawValue: response.status), "The server returned status \(response.status) \(what)")
        }
        if isForeign || response.redirects, response.isNetworksOwn {
            error = FeathersError(.unavailable, error.message, data: error.data, execution: .mayHaveExecuted)
        }
        // An error in another format is stored in full.
        if isForeign { error.response = FeathersError.Response(status: response.status, body: response.body) }
        if response.status == 404, isForeign || error.isAboutPage {
            error.advice = "no service found at \(response.url.withoutCredentials)"
        } else if response.status == 411 {
            error.advice =
                "the server requires the length of the body: instead of a stream, upload a file, or bytes in memory"
        } else if isForeign {
            error.advice = response.foreignHint
        }
        error.retryAfter = response.requestedDelay()
        return error
    }
}

/// The head of an HTTP response, available for calls over HTTP as `context.response?[HTTPHead.self]`.
public struct HTTPHead: ResponseKey, Sendable {
    public typealias Value = HTTPHead

    /// The HTTP status.
    public let status: Int
    /// The header fields.
    public let headers: HTTPHeaders
    /// The URL of the response, after redirects.
    public let url: URL

    package init(_ response: HTTPResponse) {
        (status, headers, url) = (response.status, response.headers, response.url)
    }
}

extension HTTPResponse {
    /// The body without a byte order mark. JSON text must not begin with one, and readers may ignore it (RFC 8259,
    /// section 8.1).
    package var jsonText: [UInt8] {
        body.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(body.dropFirst(3)) : body
    }
}

extension FeathersError {
    /// Whether FeathersJS' `notFound` middleware sent the error: the path does not belong to a service, or the base URL
    /// is wrong.
    fileprivate var isAboutPage: Bool { data?["url"]?.string != nil }
}
