import FeathersAuthentication
import FeathersCore
import FeathersSupport
import FeathersTesting

/// A server of which only the answers matter: it signs in whoever asks, and answers every other call with the header it
/// came with.
final class SampleServer: Sendable {
    struct Behaviour: Sendable {
        /// What the authentication service fails with.
        var failure: FeathersError?
        /// What the authentication service answers in place of an answer of its own.
        var answer: JSONValue?
        /// The token that is issued to credentials.
        var token = "issued"
        /// What the refresh service fails with.
        var refreshFailure: FeathersError?
        /// The tokens the refresh service issues, one after the other.
        var refreshed: [String] = []
        /// Tokens no call may be made with.
        var rejected: Set<String> = []
    }

    let behaviour: Locked<Behaviour>
    /// Holds requests back, by path, until it is opened.
    let gates: [String: ClosedGate]
    let transport: StubTransport

    init(holding paths: [String] = [], _ behaviour: Behaviour = Behaviour()) {
        let behaviour = Locked(behaviour)
        let gates = Dictionary(uniqueKeysWithValues: paths.map { ($0, ClosedGate()) })
        (self.behaviour, self.gates) = (behaviour, gates)
        transport = StubTransport { request in
            try await gates[request.path]?.pass()
            return try Self.answer(request, behaviour.withLock { $0 }, behaviour)
        }
    }

    func change(_ change: @Sendable (inout Behaviour) -> Void) { behaviour.withLock { change(&$0) } }

    func requests(to path: String) -> [ServiceRequest] { transport.requests.filter { $0.path == path } }

    private static func answer(_ request: ServiceRequest, _ now: Behaviour, _ behaviour: Locked<Behaviour>) throws
        -> JSONValue
    {
        switch (request.path, request.method) {
        case ("authentication", .create):
            if let failure = now.failure { throw failure }
            if let answer = now.answer { return answer }
            let token = request.data?["strategy"] == "jwt" ? request.data?["accessToken"] : .string(now.token)
            return [
                "accessToken": token ?? .null, "refreshToken": "r0", "user": ["id": 1, "email": "alice@example.com"],
            ]
        case ("authentication", _): return ["accessToken": "gone"]
        case ("refresh-tokens", _):
            if let failure = now.refreshFailure { throw failure }
            let token = behaviour.withLock { $0.refreshed.isEmpty ? "again" : $0.refreshed.removeFirst() }
            return ["accessToken": .string(token), "refreshToken": .string("r-\(token)")]
        default:
            let header = request.params.headers["Authorization"]
            if let header, now.rejected.contains(String(header.dropFirst(7))) {
                throw FeathersError(.notAuthenticated, "jwt expired")
            }
            return ["authorization": header.map(JSONValue.string) ?? .null]
        }
    }
}

/// Lets nobody pass until it is opened.
final class ClosedGate: Sendable {
    private let opened = Promise<Void>()

    func open() { opened.resolve(()) }

    func pass() async throws { try await opened.value() }
}

extension FeathersApp {
    /// An app on a sample server with authentication and, where given, a stored token.
    static func sample(
        _ server: SampleServer, storage: any TokenStorage = InMemoryTokenStorage(),
        _ configure: (inout AuthenticationOptions) -> Void = { _ in }
    ) throws -> FeathersApp {
        let app = FeathersApp(transport: server.transport)
        try app.use(authentication: AuthenticationOptions(storage: storage, configure))
        return app
    }
}
