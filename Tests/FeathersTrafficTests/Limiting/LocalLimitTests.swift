import Feathers
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

/// An app's limit counts the calls that leave the process, once each. A local service's own limit counts its own calls.
@Suite("Limits and local services", .timeLimit(.minutes(10)))
struct LocalLimitTests {
    /// Makes calls of its app, as many as the id says, and answers with what `call` makes of each.
    private actor Relay: ServiceProtocol {
        private let app: FeathersApp
        private let call: @Sendable (FeathersApp, Int) async throws -> JSONValue

        init(_ app: FeathersApp, _ call: @escaping @Sendable (FeathersApp, Int) async throws -> JSONValue) {
            (self.app, self.call) = (app, call)
        }

        func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue {
            let (app, call, count) = (app, call, Int(id.description) ?? 0)
            return try await withThrowingTaskGroup(of: JSONValue.self) { group in
                for number in 0..<count { group.addTask { try await call(app, number) } }
                return .array(try await group.reduce(into: []) { $0.append($1) })
            }
        }
    }

    /// How a local service reaches the server.
    enum Way: CaseIterable, Sendable {
        case service, ownTransport, endpoint, stream, pages, mounted, throughAnotherLocalService

        func call(_ app: FeathersApp, _ number: Int) async throws -> JSONValue {
            switch self {
            case .service: return try await app.service("who").get(number)
            case .ownTransport: return try await app.service("own").get(number)
            case .endpoint: return try await app.request(Endpoint<JSONValue>(.get, "who/\(number)"))
            case .stream:
                for try await item in app.service("who").stream(.get, id: number) { return item }
                return .null
            case .pages: return try await app.service("who").pages(of: 1).first { _ in true }?.first ?? .null
            case .mounted: return try await app.service("sub/relay").get(1)
            case .throughAnotherLocalService: return try await app.service("inner").get(1)
            }
        }
    }

    private let clock = ManualClock()

    /// A server that takes a second for every request.
    private func server() throws -> (transport: RESTTransport, http: StubHTTPClient) {
        let clock = clock
        let http = StubHTTPClient(clock: ContinuousClock()) { request in
            try await clock.sleep(for: .seconds(1))
            let record = #"{"id":1}"#
            let body = request.url.lastPathComponent == "who" ? "[\(record)]" : record
            return HTTPResponse(status: 200, body: Array(body.utf8), url: request.url)
        }
        let url = try #require(URL(string: "https://api.example.com"))
        return (RESTTransport.rest(url, httpClient: http), http)
    }

    @Test(
        "A local call that makes a hundred calls to the server has as many in flight as the limit",
        arguments: Way.allCases)
    func fanOut(way: Way) async throws {
        let (transport, http) = try server()
        let app = FeathersApp(transport: transport)
        app.use(hooks: .limiting(to: 8))
        try await app.use(transport, at: "own")
        try await app.use(Relay(app) { app, _ in try await app.service("who").get(1) }, at: "inner")
        let sub = FeathersApp(transport: transport)
        sub.use(hooks: .limiting(to: 8))
        try await sub.use(Relay(sub) { app, _ in try await app.service("who").get(1) }, at: "relay")
        app.use(sub, at: "sub")
        try await app.use(Relay(app) { try await way.call($0, $1) }, at: "relay")
        async let answers = app.service("relay").get(100)
        for round in 1...13 {
            let inFlight = round < 13 ? 8 : 4
            try await clock.waitForSleepers(inFlight)
            #expect(http.requests.count == 8 * (round - 1) + inFlight)
            clock.advance(by: .seconds(1))
        }
        #expect(try await answers.array?.count == 100)
        for path in ["inner", "relay"] { try await app.unuse(path) }
        try await sub.unuse("relay")
    }

    @Test("Forty calls of a facade at once all get their answers, and so do direct calls")
    func facade() async throws {
        let app = FeathersApp(transport: StubTransport { _ in ["id": 1] })
        app.use(hooks: .limiting(to: 8))
        try await app.use(Relay(app) { app, number in try await app.service("who").get(number) }, at: "orders")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<40 { group.addTask { _ = try await app.service("orders").get(1) } }
            for number in 0..<20 { group.addTask { _ = try await app.service("quick").get(number) } }
            try await group.waitForAll()
        }
        try await app.unuse("orders")
    }

    @Test("Coalescing, a cache and a deadline beside the limit change nothing", arguments: 0..<8)
    func combinations(bits: Int) async throws {
        let transport = StubTransport { _ in ["id": 1] }
        let app = FeathersApp(transport: transport)
        if bits & 4 != 0 { app.use(hooks: .timeout(.seconds(500))) }
        app.use(hooks: .limiting(to: 1, waiting: 0))
        if bits & 1 != 0 { app.use(hooks: .coalescingReads()) }
        if bits & 2 != 0 { app.use(cache: ServiceCache()) }
        try await app.use(Relay(app) { app, _ in try await app.service("who").get(1) }, at: "relay")
        #expect(try await app.service("relay").get(1) == [["id": 1]])
        #expect(transport.requests.count == 1)
        try await app.unuse("relay")
    }

    @Test("A local service that calls itself shares its turn")
    func recursion() async throws {
        let app = FeathersApp()
        try await app.use(
            Relay(app) { app, number in
                number == 0 ? "end" : try await app.service("relay").get(number)
            }, at: "relay")
        await app.service("relay").use(hooks: .limiting(to: 1, waiting: 0))
        // Calls 0, 1 and 2; 1 calls 0, and so on.
        let answer = try await app.service("relay").get(3)
        #expect(answer.array?.count == 3 && "\(answer)".count { $0 == "e" } == 4)
        try await app.unuse("relay")
    }

    @Test("A local service that calls another with a limit waits for its turn there")
    func another() async throws {
        let clock = clock
        let app = FeathersApp()
        let running = Locked((now: 0, most: 0))
        try await app.use(
            Relay(app) { _, _ in
                running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                defer { running.withLock { $0.now -= 1 } }
                try await clock.sleep(for: .seconds(1))
                return "inner"
            }, at: "inner")
        await app.service("inner").use(hooks: .limiting(to: 1))
        try await app.use(Relay(app) { app, _ in try await app.service("inner").get(1) }, at: "outer")
        await app.service("outer").use(hooks: .limiting(to: 2))
        app.use(hooks: .limiting(to: 1, waiting: 0))
        try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for _ in 0..<3 { group.addTask { try await app.service("outer").get(2) } }
            for _ in 0..<6 {
                try await clock.waitForSleepers(1)
                clock.advance(by: .seconds(1))
            }
            try await group.waitForAll()
        }
        #expect(running.withLock { $0.most } == 1)
        for path in ["inner", "outer"] { try await app.unuse(path) }
    }

    @Test("A local service's own limit counts its own calls")
    func ownLimit() async throws {
        let clock = clock
        let app = FeathersApp()
        try await app.use(
            Relay(app) { _, _ in
                try await clock.sleep(for: .seconds(1))
                return 1
            }, at: "slow")
        await app.service("slow").use(hooks: .limiting(to: 1, waiting: 0))
        async let first = app.service("slow").get(1)
        try await clock.waitForSleepers(1)
        await #expect { try await app.service("slow").get(1) } throws: { FeathersError.Code.tooManyRequests ~= $0 }
        clock.advance(by: .seconds(1))
        #expect(try await first == [1])
        try await app.unuse("slow")
    }

    @Test("A task that outlives the call in which it began has no share of its turn")
    func outliving() async throws {
        let clock = clock
        let app = FeathersApp()
        let gate = Promise<Void>()
        let late = Locked<Task<JSONValue, any Error>?>(nil)
        try await app.use(
            Relay(app) { app, number in
                late.withLock { late in
                    late =
                        late
                        ?? Task {
                            try await gate.value()
                            return try await app.service("slow").get(0)
                        }
                }
                if number == 1 { try await clock.sleep(for: .seconds(1)) }
                return 1
            }, at: "slow")
        await app.service("slow").use(hooks: .limiting(to: 1, waiting: 0))
        _ = try await app.service("slow").get(1)
        async let second = app.service("slow").get(2)
        try await clock.waitForSleepers(1)
        gate.resolve(())
        let task = try #require(late.withLock { $0 })
        await #expect { try await task.value } throws: { FeathersError.Code.tooManyRequests ~= $0 }
        clock.advance(by: .seconds(1))
        _ = try await second
        late.withLock { $0 = nil }
        try await app.unuse("slow")
    }

    @Test("The same hooks on the app and on a service count a call once")
    func registeredTwice() async throws {
        let app = FeathersApp(transport: StubTransport { _ in ["id": 1] })
        let hooks = Hooks.limiting(to: 1, waiting: 0)
        app.use(hooks: hooks)
        await app.service("who").use(hooks: hooks)
        #expect(try await app.service("who").get(1) == ["id": 1])
        try await app.use(Relay(app) { app, _ in try await app.service("who").get(1) }, at: "relay")
        await app.service("relay").use(hooks: hooks)
        #expect(try await app.service("relay").get(1) == [["id": 1]])
        try await app.unuse("relay")
    }

    @Test("Endpoints count toward the app's limit")
    func endpoints() async throws {
        let (transport, http) = try server()
        let app = FeathersApp(transport: transport)
        app.use(hooks: .limiting(to: 1, waiting: 0))
        async let first: JSONValue = app.request(Endpoint<JSONValue>(.get, "health"))
        try await clock.waitForSleepers(1)
        await #expect {
            try await app.service("who").get(1)
        } throws: { FeathersError.Code.tooManyRequests ~= $0 }
        clock.advance(by: .seconds(1))
        _ = try await first
        #expect(http.requests.count == 1)
    }
}
