import Feathers

// The samples of the articles about the promise of the API and its design, each one as it stands there: `ReadmeTests`
// compares them.

func explains(_ status: ConnectionStatus) -> String {
    switch status {
    case .connected: "online"
    case .closed(let reason): "closed: \(reason)"
    default: "not online"
    }
}

struct LoggingTransport: CompositeTransport {
    let inner: any Transport
    var components: [any Transport] { [inner] }

    func send(_ request: ServiceRequest) async throws -> ServiceResponse {
        print("\(request.method) \(request.path)")
        return try await inner.send(request)
    }
}
