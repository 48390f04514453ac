import FeathersAuthentication
import FeathersCore
import FeathersTesting
import Testing

@Suite("Cancellation at the gate", .timeLimit(.minutes(10)))
struct CancellationTests {
    private let storage = InMemoryTokenStorage(["feathers-jwt": "stored"])

    @Test("A caller that is cancelled leaves at once; the shared sign-in goes on for the others", arguments: [false, true])
    func waiter(isRunning: Bool) async throws {
        let server = SampleServer(holding: ["authentication"])
        let app = try FeathersApp.sample(server, storage: storage)
        try await scoped(app, isRunning) {
            let first = Task { try await app.service("messages").find() }
            try await server.transport.waitForRequest(number: 1)
            let second = Task { try await app.service("messages").find() }
            second.cancel()
            await #expect(throws: CancellationError.self) { try await second.value }
            server.gates["authentication"]?.open()
            #expect(try await first.value["authorization"] == "Bearer stored")
        }
        #expect(server.requests(to: "authentication").count == 1)
    }

    @Test("Where the app runs, cancelling the caller that began a sign-in costs the others nothing, not even a second request")
    func beginnerRunning() async throws {
        let server = SampleServer(holding: ["authentication"])
        let app = try FeathersApp.sample(server, storage: storage)
        try await scoped(app, true) {
            let first = Task { try await app.service("messages").find() }
            try await server.transport.waitForRequest(number: 1)
            let second = Task { try await app.service("messages").find() }
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            server.gates["authentication"]?.open()
            #expect(try await second.value["authorization"] == "Bearer stored")
        }
        #expect(server.requests(to: "authentication").count == 1)
    }

    @Test("Where it does not, another caller takes the sign-in over")
    func handOver() async throws {
        let server = SampleServer(holding: ["authentication"])
        let app = try FeathersApp.sample(server, storage: storage)
        let first = Task { try await app.service("messages").find() }
        try await server.transport.waitForRequest(number: 1)
        let others = (0..<20).map { _ in Task { try await app.service("messages").find() } }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        try await server.transport.waitForRequest(number: 2)
        server.gates["authentication"]?.open()
        for other in others { #expect(try await other.value["authorization"] == "Bearer stored") }
        #expect(server.requests(to: "authentication").count == 2)
    }

    @Test("A sign-in that everybody has left is forgotten, and its token is tried by the next call")
    func abandoned() async throws {
        let server = SampleServer(holding: ["authentication"])
        let app = try FeathersApp.sample(server, storage: storage)
        let only = Task { try await app.service("messages").find() }
        try await server.transport.waitForRequest(number: 1)
        only.cancel()
        await #expect(throws: CancellationError.self) { try await only.value }
        #expect(app.authentication == .signedOut)
        server.gates["authentication"]?.open()
        #expect(try await app.service("messages").find()["authorization"] == "Bearer stored")
    }

    @Test("When the app ends while its background signs in, who still waits takes over")
    func endOfRun() async throws {
        let server = SampleServer(holding: ["authentication"])
        let app = try FeathersApp.sample(server, storage: storage)
        let call = Task {
            try await withFeathersApp(app) { app in
                let call = Task { try await app.service("messages").find() }
                try await server.transport.waitForRequest(number: 1)
                return call
            }
        }
        let waiting = try await call.value
        try await server.transport.waitForRequest(number: 2)
        server.gates["authentication"]?.open()
        #expect(try await waiting.value["authorization"] == "Bearer stored")
    }

    private func scoped(_ app: FeathersApp, _ isRunning: Bool, _ body: () async throws -> Void) async throws {
        if isRunning { try await withFeathersApp(app) { _ in try await body() } } else { try await body() }
    }
}
