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
        try await result(of: request).json
    }

    func result(of request: ServiceRequest) async throws -> CallResult {
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
        switch endpoint.kind {
        case .json: return try RESTAnswer.callResult(of: response)
        case .text: return .value(.string(String(decoding: response.body, as: UTF8.self)))
        case .bytes, .nothing, .file: return .value(.null)
        }
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
