import FeathersCore
import Testing

@Suite("App life cycle")
struct LifecycleTests {
    actor Living: ServiceProtocol, LifecycleService {
        let trace: Trace
        let name: String
        let fails: Bool

        init(trace: Trace, name: String, fails: Bool = false) {
            (self.trace, self.name, self.fails) = (trace, name, fails)
        }

        func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue { .null }

        func setUp(in app: FeathersApp, at path: String) async throws {
            trace.add("setUp \(path)")
            if fails { throw FeathersError(.unavailable, "no database") }
        }

        func tearDown(in app: FeathersApp, at path: String) async throws {
            trace.add("tearDown \(path)")
        }
    }

    @Test("Services are set up and torn down in the order of their registration, hooks around them")
    func order() async throws {
        let trace = Trace()
        let app = FeathersApp()
        try await app.use(Living(trace: trace, name: "b"), at: "b")
        try await app.use(Living(trace: trace, name: "a"), at: "a")
        app.use(
            setUp: [
                { _, next in
                    trace.add("setUp>")
                    try await next()
                    trace.add("<setUp")
                }
            ],
            tearDown: [
                { _, next in
                    try await next(); trace.add("<tearDown")
                }
            ])
        try await withFeathersApp(app) { _ in trace.add("body") }
        #expect(
            trace.all == ["setUp>", "setUp b", "setUp a", "<setUp", "body", "tearDown b", "tearDown a", "<tearDown"])
    }

    @Test("A service registered in an app that is set up is set up at once, and torn down when it is taken out")
    func late() async throws {
        let trace = Trace()
        let app = FeathersApp()
        try await app.setUpServices()
        try await app.use(Living(trace: trace, name: "late"), at: "late")
        #expect(trace.all == ["setUp late"])
        try await app.unuse("late")
        try await app.tearDownServices()
        #expect(trace.all == ["setUp late", "tearDown late"])
    }

    @Test("Setting up twice does it once; after a failure it can be tried again")
    func idempotence() async throws {
        let trace = Trace()
        let app = FeathersApp()
        try await app.use(Living(trace: trace, name: "a"), at: "a")
        try await app.setUpServices()
        try await app.setUpServices()
        #expect(trace.all == ["setUp a"])

        let broken = FeathersApp()
        try await broken.use(Living(trace: trace, name: "x", fails: true), at: "x")
        await #expect(throws: FeathersError.self) { try await broken.setUpServices() }
        await #expect(throws: FeathersError.self) { try await broken.setUpServices() }
        #expect(trace.all.filter { $0 == "setUp x" }.count == 2)
    }

    @Test("The tear-down runs also when the body throws, and the body's error is the one reported")
    func failingBody() async throws {
        let trace = Trace()
        let app = FeathersApp()
        try await app.use(Living(trace: trace, name: "a"), at: "a")
        await #expect { try await withFeathersApp(app) { _ in throw FeathersError(.conflict, "body") } } throws: {
            FeathersError.Code.conflict ~= $0
        }
        #expect(trace.all == ["setUp a", "tearDown a"])
    }
}
