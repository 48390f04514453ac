import FeathersCore
import FeathersNetworking
import Foundation

/// The innermost of an endpoint's call, where hooks know a service's method: sends the request and reads the answer.
struct EndpointService: TextService {
    /// What hooks see as the method of every endpoint's call.
    static let method: ServiceMethod = "request"

    let endpoint: EndpointBlueprint
    let transport: RESTTransport
    let call: EndpointCall
    let progress: (@Sendable (TransferProgress) -> Void)?

    var givesText: Bool { true }

    func respond(to request: ServiceRequest) async throws -> JSONValue {
        let response = try await response(to: request)
        if case .json = endpoint.kind { return try RESTAnswer.result(of: response) }
        return read(response)
    }

    func result(of request: ServiceRequest) async throws -> CallResult {
        let response = try await response(to: request)
        if case .json = endpoint.kind { return try RESTAnswer.callResult(of: response) }
        return .value(read(response))
    }

    /// The body of an answer that is not read as JSON.
    private func read(_ response: HTTPResponse) -> JSONValue {
        if case .text = endpoint.kind { .string(String(decoding: response.body, as: UTF8.self)) } else { .null }
    }

    private func response(to request: ServiceRequest) async throws -> HTTPResponse {
        guard request.method == Self.method else { throw FeathersError.unsupported(request.method) }
        let builder = EndpointRequestBuilder(endpoint: endpoint, transport: transport.builder)
        let (httpRequest, body) = try builder.request(data: request.data, params: request.params)
        let response: HTTPResponse
        do {
            response = try await send(httpRequest, body)
        } catch let error as HTTPClientError {
            throw FeathersError(error)
        }
        call.response = response
        try EndpointValidation(endpoint).check(response, accept: httpRequest.headers["Accept"])
        return response
    }

    /// Streams what comes from files or goes into one, and what somebody watches; the rest is quicker in memory.
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
                // Nobody knows how long a file takes: the transport's timeout is how long nothing may move.
                stallTimeout: transport.builder.timeout, progress: progress))
    }
}
