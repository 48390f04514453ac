/// A service on a server, reached through a transport.
public struct TransportService: ServiceProtocol {
    private let transport: any Transport
    /// The app's, whose shutdown ends calls; nil where calls end with the connection anyway, or there is no app.
    private let gate: CallGate?

    /// A service that hands its calls to a transport.
    public init(_ transport: any Transport) {
        self.init(transport, gate: nil)
    }

    init(_ transport: any Transport, gate: CallGate?) {
        self.transport = transport
        // Of a composed transport, calls may go over a part without a connection.
        let endsCalls = transport is any RealTimeTransport && !(transport is any CompositeTransport)
        self.gate = endsCalls ? nil : gate
    }

    public func respond(to request: ServiceRequest) async throws -> JSONValue {
        guard let gate else { return try await transport.send(request) }
        return try await gate.untilAbandoned { [transport] in try await transport.send(request) }
    }
}
