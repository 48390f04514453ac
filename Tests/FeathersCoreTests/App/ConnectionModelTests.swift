import FeathersCore
import FeathersTesting
import Testing

@MainActor
@Suite("The model of a connection", .timeLimit(.minutes(10)))
struct ConnectionModelTests {
    @Test("follows the connection, until its task is cancelled")
    func connection() async throws {
        let transport = StubRealTimeTransport()
        let app = FeathersApp(transport: transport)
        let model = ConnectionModel(app)
        #expect(model.status == .offline && !model.isOnline)
        let running = Task { await model.run() }
        try await withFeathersApp(app) { _ in
            try await observed { model.isOnline }
            #expect(model.status == .connected(recovered: false))
            transport.drop(.pingTimeout)
            try await observed { !model.isOnline }
            transport.restore()
            try await observed { model.isOnline }
        }
        try await observed { !model.isOnline }
        running.cancel()
        await running.value
    }

    @Test("is not online anymore when it is no longer followed")
    func ended() async throws {
        let app = FeathersApp(transport: StubRealTimeTransport())
        let model = ConnectionModel(app)
        try await withFeathersApp(app) { _ in
            let running = Task { await model.run() }
            try await observed { model.isOnline }
            running.cancel()
            await running.value
            #expect(!model.isOnline)
        }
    }

    @Test("without a connection, says whether the last call has reached the server")
    func calls() async throws {
        let transport = StubTransport()
        transport.stub(
            "notes", .find,
            with: .cycle([.error(FeathersError(.unavailable, "Gone", execution: .neverSent)), .value([])]))
        let app = FeathersApp(transport: transport)
        let model = ConnectionModel(app)
        #expect(model.status == nil)
        let running = Task { await model.run() }
        try await withFeathersApp(app) { app in
            try await observed { model.isOnline }
            _ = try? await app.service("notes").find()
            try await observed { !model.isOnline }
            _ = try await app.service("notes").find()
            try await observed { model.isOnline }
        }
        running.cancel()
        await running.value
    }
}
