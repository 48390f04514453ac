import FeathersSupport

/// A type that responds to a service's requests inside its hooks: an implementation, or middleware around the next
/// responder.
///
/// Not an actor: a call pays for a change of actor only where a service of the app runs.
package protocol Responder: Sendable {
    func respond(to request: ServiceRequest) async throws -> ServiceResponse

    /// The app's own service that responds; nil if a server does.
    var actor: (any Actor)? { get }
}

extension Responder {
    package var actor: (any Actor)? { nil }
}

/// A service of the app.
struct LocalResponder: Responder {
    let service: any ServiceProtocol
    var actor: (any Actor)? { service }

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        DeadlineScope.callReachedService()
        return try await service.respond(to: request)
    }
}

/// The responder for paths without a service. It rejects every call.
struct MissingService: Responder {
    let path: String

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        throw FeathersError(.notFound, "Can not find service '\(path)'", execution: .neverSent)
    }
}

/// The responder for methods that a service's options exclude. It rejects every call.
struct RefusingResponder: Responder {
    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        throw FeathersError.unsupported(request.method)
    }
}

/// The service of a path that is reached through a transport.
///
/// The app's token is sent only if the transport connects to the app's own server or to one of its authentication's
/// `trustedOrigins`.
package struct RemoteResponder: Responder {
    package let transport: any Transport
    /// Whether the transport is the app's own.
    package let isOwn: Bool

    package func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        try await transport.send(request)
    }
}

/// A service on a server, as calls reach it: it rejects them once the app has shut down.
struct SendingResponder: Responder {
    let remote: RemoteResponder
    let gate: CallGate
    let app: WeakApp
    /// Whether requests belong to the app's user, although no sign-in gate says so.
    let recordsSender: Bool
    /// Receives whether calls reach the server; nil if calls use a connection or another server, which do not count.
    let reach: CallReach?

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        let request = try prepared(request)
        let response: ServiceResponse
        do {
            response = try await remote.respond(to: request)
        } catch {
            let error = marked(error)
            reach?.failed(error)
            throw error
        }
        reach?.succeeded()
        return try request.checked(response)
    }

    /// Returns a request as it is sent.
    ///
    /// Not inlined, because a call holds the frame of ``respond(to:)`` while it waits for the server.
    @inline(never)
    private func prepared(_ request: ServiceRequest) throws -> ServiceRequest {
        // Checked here, immediately before sending, because the call may have waited or be a retry.
        if gate.isFinished { throw FeathersError.shuttingDown(request) }
        var request = request
        if recordsSender { request.recordSender(of: app.app, whenSent: true) }
        try request.checkSender()
        if DeadlineScope.current != nil {
            request.boundTimeout(over: remote.transport)
            DeadlineScope.callReachedService()
        }
        if let span = TraceContext.current { request.params.add(span) }
        if request.callToken != nil || !request.params.headers.isEmpty {
            let app = app.app
            try request.addTokenField(app, mayCarry: app?.trusts(remote) == true)
            request.harmlessFields = app?.harmlessFields
        }
        return request
    }

    /// Returns an error which, if a server that doesn't get the app's token refuses a request, says so.
    @inline(never)
    private func marked(_ error: any Error) -> any Error {
        guard !remote.isOwn, var error = error as? FeathersError, error.execution == .answered,
            error.code == .notAuthenticated || error.code == .forbidden, app.app?.trusts(remote) != true
        else { return error }
        error.isFromUntrustedServer = true
        let servers = FeathersApp.origins(of: remote.transport).map(\.description).sorted()
        let server = servers.isEmpty ? "the service's own transport" : servers.joined(separator: " or ")
        error.advice = error.advice ?? "from \(server), which doesn't get the app's token"
        return error
    }
}

extension ServiceRequest {
    /// Shortens the time limit to the caller's deadline, so that the transport says whether it sent the request.
    ///
    /// The limit of a stream applies to each item, so the deadline must end a stream from outside.
    fileprivate mutating func boundTimeout(over transport: any Transport) {
        guard !streamsResult, let left = DeadlineScope.timeLeft else { return }
        if let usual = params.timeout ?? transport.defaultTimeout, usual <= left { return }
        params.timeout = max(left, .zero)
    }
}
