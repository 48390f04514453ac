import Feathers
import FeathersSupport
import FeathersTesting
import TestBackend
import Testing

/// Random calls of 50 users through one app: in scopes and with tokens of their own, in child tasks, with deadlines,
/// caches, retries, limits and circuit breakers; and the event streams that their requests open and close.
///
/// The law: a user's answer is his own, and no user's failure is another's. ``ManyUsersFeed`` has that of the streams.
///
/// With one history's seed as `FEATHERS_SEED` and `FEATHERS_COUNT=1`, it alone runs again.
@Suite(.timeLimit(.minutes(10))) struct ManyUsersHistoryTests {
    private static let users = 50
    /// The users whose calls the server lets fail or hang.
    private static let unlucky = 0..<10

    /// A server that answers with the user of the request. What it does to the unlucky ones is drawn.
    private static func server(_ draws: Locked<SeededGenerator>) -> StubTransport {
        StubTransport { request in
            let field = request.params.headers["Authorization"] ?? ""
            let user = Int(field.dropFirst("Bearer user-".count)) ?? -1
            if unlucky.contains(user) {
                switch draws.withLock({ Int.random(in: 0..<4, using: &$0) }) {
                case 0: throw FeathersError(.unavailable, "Failed for \(user)")
                case 1: throw FeathersError(.timeout, "Failed for \(user)", execution: .mayHaveExecuted)
                // Until the caller's deadline.
                case 2: try await Promise<Void>().value()
                default: break
                }
            }
            return ["user": .integer(Int64(user)), "id": request.id?.json ?? .null, "path": .string(request.path)]
        }
    }

    private static func app(_ seed: UInt64, _ feed: ManyUsersFeed) async throws -> FeathersApp {
        var draws = SeededGenerator(seed: seed)
        let rest = server(Locked(SeededGenerator(seed: seed &+ 1)))
        let app = FeathersApp(transport: .mixed(realTime: feed.connection, rest: rest) { $0.standard = .rest })
        try app.use(authentication: AuthenticationOptions { $0.requiresToken = true })
        if Bool.random(using: &draws) { app.use(hooks: .retrying(attempts: 2, pause: .zero)) }
        if Bool.random(using: &draws) {
            app.use(hooks: .circuitBreaker(failures: 3, of: 5, per: .serviceAndUser, pause: .milliseconds(5)))
        }
        if Bool.random(using: &draws) { app.use(hooks: .limiting(to: 2, per: .serviceAndUser)) }
        if Bool.random(using: &draws) { app.use(hooks: .coalescingReads()) }
        if Bool.random(using: &draws) { app.use(cache: ServiceCache(policy: .cacheFirstNetworkRefresh)) }
        try await app.use(ForwardingService(app: app), at: "local")
        return app
    }

    /// One user's calls, in the ways that a server makes them.
    private static func calls(of user: Int, _ app: FeathersApp, _ feed: ManyUsersFeed, seed: UInt64) async -> [String] {
        var draws = SeededGenerator(seed: seed &* 1_000 &+ UInt64(user))
        var wrong: [String] = []
        for _ in 0..<8 {
            if Int.random(in: 0..<4, using: &draws) == 0 { wrong += await feed.streams(of: user, app, &draws) }
            let path = ["messages", "rooms", "local"].randomElement(using: &draws) ?? "messages"
            let (id, isInScope) = (Int.random(in: 0..<3, using: &draws), Bool.random(using: &draws))
            let isWrite = Int.random(in: 0..<4, using: &draws) == 0
            @Sendable func call() async throws -> [JSONValue] {
                let params = isInScope ? Params() : Params(token: "user-\(user)")
                let service = app.service(path)
                if isWrite { return [try await service.patch(id, with: ["a": 1], params: params)] }
                async let first = service.get(id, params: params)
                async let second = service.get(id, params: params)
                return [try await first, try await second]
            }
            do {
                // Only the unlucky ones need the deadline. It is long enough for the others on a busy machine.
                let limit: Duration = unlucky.contains(user) ? .milliseconds(50) : .seconds(300)
                let answers = try await app.withDeadline(limit) {
                    isInScope ? try await app.withToken("user-\(user)") { try await call() } : try await call()
                }
                for answer in answers where answer["user"]?.integer != Int64(user) {
                    wrong.append("user \(user) got \(answer)")
                }
            } catch {
                let text = "\(error)"
                // A failure may name its own user only, and the others have none.
                let isOthers = text.contains("Failed for") && !text.contains("Failed for \(user) ")
                if !unlucky.contains(user) || isOthers { wrong.append("user \(user) failed: \(text)") }
            }
        }
        return wrong
    }

    @Test func `A user's answer is his own, and no user's failure is another's`() async throws {
        let first = Environment.seed ?? 1
        for seed in first..<first + UInt64(Environment.count ?? 12) {
            let feed = ManyUsersFeed()
            let app = try await Self.app(seed, feed)
            let wrong = try await withFeathersApp(app) { app in
                try await feed.isOpen()
                let whole = await app.asOwnUser {
                    app.service(ManyUsersFeed.path).eventDeliveries(bufferingNewest: .max)
                }
                let wrong = await withTaskGroup(of: [String].self) { group in
                    for user in 0..<Self.users {
                        group.addTask { await Self.calls(of: user, app, feed, seed: seed) }
                    }
                    return await group.reduce(into: []) { $0 += $1 }
                }
                try await feed.isOpen()
                return await wrong + ManyUsersFeed.read(whole, until: feed.push(), gapCounts: false)
            }
            #expect(wrong.isEmpty, "seed \(seed): \(wrong.prefix(3))")
        }
    }
}

/// A local service whose calls are those of its caller.
private actor ForwardingService: ServiceProtocol {
    // Weak, because the app retains its services.
    private weak var app: FeathersApp?

    init(app: FeathersApp) { self.app = app }

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        guard let app else { throw FeathersError(.unavailable, "Gone") }
        let method = request.method == .patch ? ServiceMethod.patch : .get
        return try await app.service("messages").respond(
            to: ServiceRequest(path: "messages", method: method, id: request.id, data: request.data))
    }
}
