public import FeathersCore
public import FeathersNetworking
public import Foundation

/// The method of an endpoint's call: sends the request and reads the response.
struct EndpointService: ServiceProtocol {
    /// What hooks see as the method of every endpoint's call.
    static let method: ServiceMethod = "request"

    let endpoint: EndpointBlueprint
    let transport: RESTTransport
    let progress: (@Sendable (TransferProgress) -> Void)?

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        var received = try await received(request)
        var response: ServiceResponse
        if case .json = endpoint.kind {
            response = try RESTAnswer.response(of: received, keepsText: true)
        } else {
            response = ServiceResponse(read(received))
        }
        response[HTTPHead.self] = HTTPHead(received)
        if case .bytes = endpoint.kind {} else { received.body = [] }
        response[ReceivedResponse.self] = received
        return response
    }

    /// The body of an HTTP response that is not read as JSON.
    private func read(_ response: HTTPResponse) -> JSONValue {
        if case .text = endpoint.kind { .string(String(decoding: response.body, as: UTF8.self)) } else { .null }
    }

    private func received(_ request: ServiceRequest) async throws -> HTTPResponse {
        guard request.method == Self.method else { throw FeathersError.unsupported(request.method) }
        let builder = EndpointRequestBuilder(endpoint: endpoint, transport: transport.builder)
        let (httpRequest, body) = try builder.request(data: request.data, params: request.params)
        let response: HTTPResponse
        do {
            response = try await send(httpRequest, body)
        } catch let error as HTTPClientError {
            throw FeathersError(error)
        }
        try EndpointValidation(endpoint).check(response, accept: httpRequest.headers["Accept"])
        return response
    }

    /// Streams what comes from files or goes into one, and what reports progress; the rest is faster in memory.
    private func send(_ request: HTTPRequest, _ body: HTTPBody?) async throws -> HTTPResponse {
        let destination: URL? = if case .file(let url) = endpoint.kind { url } else { nil }
        var request = request
        if body?.isInMemory != false, destination == nil, progress == nil {
            request.body = try body?.bytes()
            request.timeout = request.timeout ?? transport.builder.timeout
            return try await transport.httpClient.execute(request)
        }
        return try await transport.httpClient.transfer(
            HTTPTransfer(
                request, body: body, destination: destination,
                // How long a file takes is unknown: the transport's timeout limits how long nothing may move.
                stallTimeout: transport.builder.timeout, progress: progress))
    }
}

/// What hooks can learn of an endpoint's call, besides what every call has: `context.endpoint`.
///
/// What came back over HTTP is with the response: `context.response?[HTTPHead.self]`. A refusal is a ``FeathersError`` that keeps status and body.
public struct EndpointCall: Sendable {
    /// The HTTP method.
    public let method: HTTPMethod
    /// Whether the request carries the header fields that the app and its hooks add; see ``EndpointCredentials``.
    public let carriesCredentials: Bool
}

/// The HTTP response of an endpoint's call, with its body if that is wanted as bytes.
enum ReceivedResponse: ResponseKey { typealias Value = HTTPResponse }

extension HookContext {
    /// The call of an endpoint; nil in calls of services.
    public var endpoint: EndpointCall? { params[EndpointCallKey.self] }
}

enum EndpointCallKey: ParamsKey {
    typealias Value = EndpointCall
}
