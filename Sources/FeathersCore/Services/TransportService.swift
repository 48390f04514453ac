/// A service on a server, reached through a transport.
public struct TransportService: ServiceProtocol {
    /// Who sees to it that calls end with the app.
    private enum Ending: Sendable {
        /// The connection, which ends with the app; or nobody, where there is none.
        case connection
        case transport(CallAbandonment)
        case service(CallAbandonment)
    }

    let transport: any Transport
    private let ending: Ending

    /// A service that hands its calls to a transport.
    public init(_ transport: any Transport) {
        self.init(transport, gate: nil)
    }

    /// - Parameter gate: the app's.
    init(_ transport: any Transport, gate: CallGate?) {
        self.transport = transport
        ending =
            switch (gate, transport) {
            case (nil, _): .connection
            case (let gate?, is any CallAbandoningTransport): .transport(CallAbandonment(gate: gate))
            // Of a composed transport, calls may go over a part without a connection.
            case (let gate?, is any CompositeTransport): .service(CallAbandonment(gate: gate))
            case (_, is any RealTimeTransport): .connection
            case (let gate?, _): .service(CallAbandonment(gate: gate))
            }
    }

    public func respond(to request: ServiceRequest) async throws -> JSONValue {
        switch ending {
        case .connection: return try await transport.send(request)
        case .transport(let abandonment):
            var request = request
            request.params[CallAbandonment.self] = abandonment
            return try await transport.send(request)
        case .service(let abandonment):
            return try await abandonment.run { [transport] in try await transport.send(request) }
        }
    }
}
