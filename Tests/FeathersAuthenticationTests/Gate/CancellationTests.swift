import FeathersAuthentication
import FeathersCore
import FeathersSupport
import FeathersTesting
import TestBackend
import Testing

@Suite("Cancellation at the gate", .timeLimit(.minutes(10)))
struct CancellationTests {
    private let storage = InMemoryTokenStorage(["feathers-jwt": "stored"])

    @Test(
        "A caller that is cancelled leaves at once; the shared sign-in goes on for the others",
        arguments: [false, true])
    func waiter(isRunning: Bool) async throws {
        let server = SampleServer(holding: ["authentication"])
        let app = try FeathersApp.sample(server, storage: storage)
        try await scoped(app, isRunning) {
            let first = Task { try await app.service("messages").rawFind() }
            try await server.transport.waitForRequest(number: 1)
            let second = Task { try await app.service("messages").rawFind() }
            second.cancel()
            await #expect(throws: CancellationError.self) { try await second.value }
            server.gates["authentication"]?.open()
            #expect(try await first.value["authorization"] == "Bearer stored")
        }
        #expect(server.requests(to: "authentication").count == 1)
    }

    @Test(
        "Cancelling the caller that began a sign-in costs the others nothing, not even a second request",
        arguments: [false, true])
    func beginner(isRunning: Bool) async throws {
        let server = SampleServer(holding: ["authentication"])
        let clock = ManualClock()
        let app = try FeathersApp.sample(server, storage: storage) { $0.clock = clock }
        try await scoped(app, isRunning) {
            let first = Task { try await app.service("messages").rawFind() }
            try await server.transport.waitForRequest(number: 1)
            let params = Params(timeout: .seconds(60))
            let others = (0..<20).map { _ in Task { try await app.service("messages").rawFind(params: params) } }
            // Each of them keeps time while it waits for the sign-in.
            try await clock.waitForSleepers(20)
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            server.gates["authentication"]?.open()
            for other in others { #expect(try await other.value["authorization"] == "Bearer stored") }
        }
        #expect(server.requests(to: "authentication").count == 1)
    }

    @Test("A sign-in that everybody has left is forgotten, and its token is tried by the next call")
    func abandoned() async throws {
        let server = SampleServer(holding: ["authentication"])
        let app = try FeathersApp.sample(server, storage: storage)
        let only = Task { try await app.service("messages").rawFind() }
        try await server.transport.waitForRequest(number: 1)
        only.cancel()
        await #expect(throws: CancellationError.self) { try await only.value }
        #expect(app.authentication == .signedOut)
        server.gates["authentication"]?.open()
        #expect(try await app.service("messages").rawFind()["authorization"] == "Bearer stored")
    }

    @Test("A sign-in goes on when the app's run ends, for the calls that still wait")
    func endOfRun() async throws {
        let server = SampleServer(holding: ["authentication"])
        let app = try FeathersApp.sample(server, storage: storage)
        let call = Task {
            try await withFeathersApp(app) { app in
                let call = Task { try await app.service("messages").rawFind() }
                try await server.transport.waitForRequest(number: 1)
                return call
            }
        }
        let waiting = try await call.value
        server.gates["authentication"]?.open()
        #expect(try await waiting.value["authorization"] == "Bearer stored")
        #expect(server.requests(to: "authentication").count == 1)
    }

    @Test("A refresh outlives the call that asked for it")
    func refresh() async throws {
        let server = SampleServer(holding: ["refresh-tokens"], .init(rejected: ["stored"]))
        let app = try FeathersApp.sample(server, storage: storage) { $0.refresh = .service("refresh-tokens") }
        let call = Task { try await app.service("messages").rawFind() }
        try await server.transport.waitForRequest(number: 3)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        server.gates["refresh-tokens"]?.open()
        for await state in app.authenticationUpdates() where state.result?.accessToken == "again" { break }
        #expect(try await app.service("messages").rawFind()["authorization"] == "Bearer again")
        #expect(server.requests(to: "refresh-tokens").count == 1)
    }

    @Test("An attempt that waits for its refresh function keeps the app alive no longer than its users do")
    func releasedApp() async throws {
        let (entered, left) = (Promise<Void>(), Promise<Void>())
        weak var released: FeathersApp?
        do {
            let function = TokenRefresh.function { _ in
                entered.resolve(())
                do { try await Promise<Void>().value() } catch { left.resolve(()) }
                throw CancellationError()
            }
            let app = try FeathersApp.sample(SampleServer(.init(rejected: ["stored"])), storage: storage) {
                $0.refresh = function
            }
            released = app
            let call = Task { try await app.service("messages").rawFind() }
            try await entered.value()
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
        }
        // The end of the app ends the function.
        try await left.value()
        #expect(released == nil)
    }

    private func scoped(_ app: FeathersApp, _ isRunning: Bool, _ body: () async throws -> Void) async throws {
        if isRunning { try await withFeathersApp(app) { _ in try await body() } } else { try await body() }
    }
}
