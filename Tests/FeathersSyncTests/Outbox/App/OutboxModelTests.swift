import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@MainActor
@Suite("The model of an outbox", .timeLimit(.minutes(10)))
struct OutboxModelTests {
    @Test("counts what is pending, lists what has failed, and carries out decisions")
    func decisions() async throws {
        let server = AnsweringServer(
            AnsweringServer.failing(.forbidden), AnsweringServer.failing(.unprocessable),
            AnsweringServer.failing(.forbidden))
        let scene = try await OutboxApp(server: server) { $0.concurrentLanes = 1 }
        let model = OutboxModel(scene.app)
        #expect(model.activity == .stopped && model.entries.isEmpty)
        let running = Task { await model.run() }
        let first = try await scene.messages.outbox.patch(1, with: ["text": "one"])
        let second = try await scene.messages.outbox.patch(2, with: ["text": "two"])
        try await observed { model.pendingCount == 2 && model.failures.isEmpty }
        try await scene.live { _ in
            try await observed { model.failures.map(\.id) == [first.id, second.id] && model.pendingCount == 0 }
            #expect(model.activity == .active && model.failures.first?.failure?.error.code == .forbidden)
            await model.discard(second.id)
            try await observed { model.entries.map(\.id) == [first.id] }
            await model.retry(first.id)
            try await observed { model.failures.count == 1 && model.entries.first?.attempts == 2 }
            await model.decide(.replace(["text": "other"]), for: first.id)
            try await observed { model.entries.isEmpty }
            #expect(model.error == nil)
            await model.retry(first.id)
            #expect(FeathersError.Code.notFound ~= (model.error ?? CancellationError()))
        }
        try await observed { model.activity == .stopped }
        running.cancel()
        await running.value
    }

    @Test("sends what waits, without waiting for the next attempt")
    func flush() async throws {
        let scene = try await OutboxApp(server: AnsweringServer(AnsweringServer.failing(.unavailable, .neverSent)))
        let model = OutboxModel(scene.app)
        let running = Task { await model.run() }
        try await scene.messages.outbox.patch(1, with: ["text": "one"])
        try await scene.live { _ in
            try await observed { model.activity == .unreachable }
            await model.flush(within: .seconds(60))
            try await observed { model.entries.isEmpty }
        }
        running.cancel()
        await running.value
    }

    @Test("shows the writes of the signed-in user")
    func users() async throws {
        let scene = try await OutboxApp()
        let model = OutboxModel(scene.app)
        let running = Task { await model.run() }
        scene.app.setIdentity(Identity("ada"))
        try await scene.messages.outbox.patch(1, with: ["text": "one"])
        try await observed { model.pendingCount == 1 }
        scene.app.setIdentity(Identity("bob"))
        try await observed { model.entries.isEmpty }
        scene.app.setIdentity(Identity("ada"))
        try await observed { model.pendingCount == 1 }
        running.cancel()
        await running.value
        await scene.outbox.close()
    }

    @Test("without an outbox, says what is missing")
    func missing() async throws {
        let model = OutboxModel(FeathersApp())
        await model.run()
        #expect(FeathersError.Code.notImplemented ~= (model.error ?? CancellationError()))
    }
}
