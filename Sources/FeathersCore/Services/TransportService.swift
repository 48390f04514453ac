/// A service on a server, reached through a transport.
public struct TransportService: ServiceProtocol {
    private let transport: any Transport

    public init(_ transport: any Transport) {
        self.transport = transport
    }

    public func respond(to request: ServiceRequest) async throws -> JSONValue {
        try await transport.send(request)
    }
}
