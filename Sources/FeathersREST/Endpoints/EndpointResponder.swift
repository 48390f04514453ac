public import FeathersCore
import FeathersNetworking
import Foundation

/// The implementation of an endpoint's call: sends the request and reads the response.
struct EndpointResponder<Response: Sendable>: Responder {
    let builder: EndpointRequestBuilder<Response>
    let transport: RESTTransport
    let progress: (@Sendable (TransferProgress) -> Void)?

    private var endpoint: Endpoint<Response> { builder.endpoint }

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        var received = try await received(request)
        var response =
            switch endpoint.reading.kind {
            case _ where received.confirms(request.params.heldResponse):
                ServiceResponse(request.params.heldResponse?.value ?? .null)
            case .json: try RESTResponse.response(of: received)
            case .text: ServiceResponse(.string(String(decoding: received.body, as: UTF8.self)))
            case .bytes, .nothing, .file: ServiceResponse(.null)
            }
        response[HTTPHead.self] = HTTPHead(received)
        response[EntityTag.self] = EntityTag.checked(received.headers["ETag"])
        if received.confirms(request.params.heldResponse) { response[NotModified.self] = true }
        if case .bytes = endpoint.reading.kind {} else { received.body = [] }
        response[ReceivedResponse.self] = received
        return response
    }

    private func received(_ request: ServiceRequest) async throws -> HTTPResponse {
        guard request.method == .endpointRequest else { throw FeathersError.unsupported(request.method) }
        let (httpRequest, body) = try builder.request(data: request.data, params: request.params)
        let response: HTTPResponse
        do {
            response = try await send(httpRequest, body)
        } catch let error as HTTPClientError {
            throw FeathersError(error)
        }
        // A confirmed response was checked before it was stored.
        if !response.confirms(request.params.heldResponse) {
            try check(response, to: httpRequest)
        }
        return response
    }

    /// Checks whether a response is a success: first with the endpoint's own function, then by status, then by content
    /// type.
    /// - Throws: Any error from the endpoint's own function, the server's ``FeathersError``, or an error that names
    ///   both content types.
    private func check(_ response: HTTPResponse, to request: HTTPRequest) throws {
        try endpoint.validate?(response)
        // Another 401 says nothing about the app's token.
        if response.status == 401, builder.carriesCredentials,
            let error = response.refusalWithoutFields(requestedAt: request.url)
        {
            throw error
        }
        guard response.isSuccess else {
            var error = RESTResponse.error(of: response)
            // An endpoint isn't a service, so replace a hint about a missing service.
            if response.status == 404 { error.advice = "not found: \(response.url.withoutCredentials)" }
            throw error
        }
        // The default Accept field is only a hint: decoding shows whether the response is JSON. A field that was set
        // explicitly is binding.
        guard let accept = request.headers["Accept"], accept != endpoint.reading.kind.accept, !response.body.isEmpty,
            let type = response.headers["Content-Type"],
            let mediaType = MediaType(type), !mediaType.isAccepted(by: accept)
        else { return }
        var error = FeathersError(
            .generalError, "The server responded with '\(type)' instead of the requested '\(accept)'")
        error.response = FeathersError.Response(status: response.status, body: response.body)
        throw error
    }

    /// Streams transfers that read or write files or report progress. Other transfers are faster in memory.
    private func send(_ request: HTTPRequest, _ body: HTTPBody?) async throws -> HTTPResponse {
        Diagnostics.current.isSent(over: "rest")
        let destination: URL? = if case .file(let url) = endpoint.reading.kind { url } else { nil }
        var request = request
        if body?.isInMemory != false, destination == nil, progress == nil {
            request.body = try await body?.bytes()
            request.timeout = request.timeout ?? transport.builder.timeout
            return try await transport.httpClient.execute(request)
        }
        return try await transport.httpClient.transfer(
            HTTPTransfer(
                request, body: body, destination: destination,
                // The duration of a file transfer is unknown, so the transport's timeout limits how long no data may
                // move.
                stallTimeout: transport.builder.timeout, progress: progress))
    }
}

extension HTTPResponse {
    /// Whether the server reports that a stored response is still current.
    fileprivate func confirms(_ held: HeldResponse?) -> Bool { status == 304 && held != nil }
}

/// The details of an endpoint's call that hooks can read as `context.endpoint`, in addition to those of every call.
///
/// For the HTTP response's head, see `context.response?[HTTPHead.self]`. A failure is a ``FeathersError`` that includes
/// status and body.
public struct EndpointCall: Sendable {
    /// The HTTP method.
    public let method: HTTPMethod
    /// Whether the request carries the header fields that the app and its hooks add; see ``EndpointCredentials``.
    public let carriesCredentials: Bool
}

/// The HTTP response of an endpoint's call, with its body if the body is read as bytes.
enum ReceivedResponse: ResponseKey { typealias Value = HTTPResponse }

extension HookContext {
    /// The details of an endpoint's call; nil in calls of services.
    public var endpoint: EndpointCall? { params[EndpointCallKey.self] }
}

enum EndpointCallKey: ParamsKey { typealias Value = EndpointCall }
