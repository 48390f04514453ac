import FeathersCore
import FeathersSupport
import FeathersTesting
import TestBackend
import Testing

@Suite("Shutting an app down", .timeLimit(.minutes(10)))
struct ShutdownTests {
    private let begun = Promise<Void>()
    private let mayEnd = Promise<Void>()

    /// An app whose service answers when the test says so.
    private func app(_ transport: (any Transport)? = nil) async throws -> FeathersApp {
        let app = FeathersApp(transport: transport)
        try await app.use(Waiting(begun: begun, mayEnd: mayEnd), at: "waiting")
        try await app.use(Waiting(begun: Promise(), mayEnd: Promise()), at: "others")
        return app
    }

    actor Waiting: ServiceProtocol {
        let begun: Promise<Void>
        let mayEnd: Promise<Void>

        init(begun: Promise<Void>, mayEnd: Promise<Void>) { (self.begun, self.mayEnd) = (begun, mayEnd) }

        func find(_ params: Params) async throws -> JSONValue { "here" }

        func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue {
            begun.resolve(())
            try await mayEnd.value()
            return "done"
        }
    }

    @Test("Calls under way finish, others are refused and say that they were never sent, and the run returns")
    func order() async throws {
        let app = try await app()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await app.run() }
            for await health in app.healthUpdates() where health.isReady { break }
            async let call = app.service("waiting").get(1)
            try await begun.value()
            #expect(app.metrics.callsInFlight == 1)
            app.beginShutdown(within: .seconds(600))
            await #expect {
                try await app.service("others").find()
            } throws: { error in
                guard let error = error as? FeathersError else { return false }
                return error.code == .unavailable && error.execution == .neverSent
                    && error.message.contains("'find' of 'others'")
            }
            #expect(app.health.state == .shuttingDown)
            mayEnd.resolve(())
            #expect(try await call == "done")
            try await group.waitForAll()
        }
        #expect(app.metrics.callsInFlight == 0 && app.health.state == .stopped)
    }

    @Test("With a delay, the app is not ready at once, and makes calls until the delay has passed")
    func lameDuck() async throws {
        let (app, clock) = (try await app(), ManualClock())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await app.run() }
            for await health in app.healthUpdates() where health.isReady { break }
            app.beginShutdown(after: .seconds(5), within: .seconds(60), clock: clock)
            #expect(app.health.state == .shuttingDown && !app.health.isReady)
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(4))
            #expect(try await app.service("others").rawFind() == "here")
            async let call = app.service("waiting").get(1)
            try await begun.value()
            clock.advance(by: .seconds(1))
            // The deadline of calls in flight follows.
            try await clock.waitForSleepers(1)
            await #expect(throws: FeathersError.self) { try await app.service("others").find() }
            mayEnd.resolve(())
            #expect(try await call == "done")
            try await group.waitForAll()
        }
        #expect(app.health.state == .stopped)
    }

    @Test("What a call under way calls in turn is let in")
    func nested() async throws {
        let app = try await app()
        await app.service("waiting").use(
            hooks: Hooks(after: [{ $0.result = try await app.service("others").rawFind() }]))
        async let call = app.service("waiting").get(1)
        try await begun.value()
        app.beginShutdown(within: .seconds(600))
        mayEnd.resolve(())
        #expect(try await call == "here")
        #expect(await app.shutDown(within: .zero) == 0)
    }

    @Test("What is left at the end of the time fails, and is counted", arguments: [true, false])
    func deadline(isRealTime: Bool) async throws {
        let clock = ManualClock()
        let stub = ServiceStub { [begun, mayEnd] _ in
            begun.resolve(())
            try await mayEnd.value()
            return .null
        }
        let transport: any Transport
        if isRealTime {
            let connection = StubRealTimeTransport()
            connection.stub("slow", .find, with: stub)
            transport = connection
        } else {
            let requests = StubTransport()
            requests.stub("slow", .find, with: stub)
            transport = requests
        }
        let app = FeathersApp(transport: transport)
        if app.connectionStatus != nil { try await app.connect() }
        try await withThrowingTaskGroup(of: Int?.self) { group in
            group.addTask {
                await #expect {
                    try await app.service("slow").find()
                } throws: { error in
                    (error as? FeathersError)?.code == .unavailable
                        && (error as? FeathersError)?.execution == .mayHaveExecuted
                }
                return nil
            }
            try await begun.value()
            group.addTask { await app.shutDown(within: .seconds(5), clock: clock) }
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(4))
            #expect(app.health.state == .shuttingDown)
            clock.advance(by: .seconds(1))
            #expect(try await group.reduce(0) { $0 + ($1 ?? 0) } == 1)
        }
        #expect(app.health.state == .stopped)
        await #expect(throws: FeathersError.self) { try await app.service("slow").find() }
    }

    @Test("An app that runs again takes calls again; an order that came before the run ends it")
    func again() async throws {
        let app = try await app()
        await app.shutDown(within: .zero)
        let found = try await withFeathersApp(app) { app in try await app.service("others").rawFind() }
        #expect(found == "here")
        app.beginShutdown(within: .zero)
        try await app.run()
        #expect(app.health.state == .stopped)
    }
}
