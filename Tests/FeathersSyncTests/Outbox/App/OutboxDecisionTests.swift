import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@Suite("Decisions about writes that failed", .timeLimit(.minutes(10)))
struct OutboxDecisionTests {
    @Test(
        "The app's function is told why, and what it says is done",
        arguments: [
            (
                AnsweringServer.failing(.conflict), OutboxFailure.Reason.conflict,
                OutboxDecision.replace(["text": "merged"])
            ),
            (AnsweringServer.failing(.forbidden), .rejected, .retry),
            (AnsweringServer.failing(.unavailable), .unknown, .retry),
            (AnsweringServer.failing(.timeout, .mayHaveExecuted), .unknown, .replace(["text": "again"])),
        ])
    func asked(_ answer: AnsweringServer.Answer, _ reason: OutboxFailure.Reason, _ decision: OutboxDecision)
        async throws
    {
        let failures = Locked<[OutboxFailure]>([])
        let scene = try await OutboxApp(server: AnsweringServer(answer)) { options in
            options.decide = { failure in
                failures.withLock { $0.append(failure) }
                return decision
            }
        }
        let queued = try await scene.messages.outbox.patch(1, with: ["text": "mine"])
        let result = try await scene.live { _ in try await queued.result() }
        #expect(failures.withLock { $0.map(\.reason) } == [reason])
        #expect(failures.withLock { $0.first?.write } == queued.write)
        // The server's record is read too.
        let keys = scene.server.requests.filter { $0.method != .get }.map { $0.params.headers["Idempotency-Key"] }
        guard case .replace(let data) = decision else {
            #expect(result == ["text": "mine", "id": 1])
            return #expect(Set(keys).count == 1)
        }
        #expect(result == data.setting("id", to: 1))
        #expect(Set(keys).count == 2)
    }

    @Test("What is discarded fails with its failure, and lets the next in its lane go")
    func discarded() async throws {
        let scene = try await OutboxApp(server: AnsweringServer(AnsweringServer.failing(.unprocessable))) {
            $0.decide = { _ in .discard }
        }
        let first = try await scene.messages.outbox.patch(1, with: ["n": 1])
        let second = try await scene.messages.outbox.patch(1, with: ["n": 2])
        try await scene.live { _ in
            await #expect { try await first.result() } throws: { ($0 as? FeathersError)?.code == .unprocessable }
            let result = try await second.result()
            #expect(result == ["n": 2, "id": 1])
        }
        #expect(scene.server.requests.count == 2)
    }

    @Test("Undecided, a write waits, also through a restart, and is not sent; then it can be decided from outside")
    func undecided() async throws {
        let folder = try OutboxFolder()
        let refusal = FeathersError(.conflict, "Somebody was faster", data: ["version": 3])
        let first = try await OutboxApp(in: folder, server: AnsweringServer(.error(refusal)))
        let queued = try await first.messages.outbox.patch(1, with: ["n": 1])
        try await first.messages.outbox.patch(1, with: ["n": 2])
        try await first.live { _ in
            try await first.outbox.wait { $0.entries.first?.status == .awaitingDecision }
            // Another lane is not held up; handed in before, it might have been the first to arrive, and the refused
            // one.
            _ = try await first.messages.outbox.patch(2, with: ["n": 3]).result()
        }

        let asked = Promise<OutboxFailure>()
        let second = try await OutboxApp(in: folder) { options in
            options.decide = { failure in
                asked.resolve(failure)
                return nil
            }
        }
        #expect(second.outbox.state.entries.map(\.status) == [.awaitingDecision, .waiting])
        try await second.live { _ in
            let failure = try await asked.value()
            #expect(
                failure.reason == .conflict && failure.error.data == ["version": 3]
                    && failure.error.message == "Somebody was faster")
            try await second.outbox.decide(.replace(["n": 9]), for: queued.id)
            try await second.outbox.wait { $0.entries.isEmpty }
        }
        #expect(second.server.requests.filter { $0.method != .get }.map { $0.data?["n"] } == [9, 2])
    }

    @Test("A write that waits can be discarded; one that is on its way can not")
    func early() async throws {
        let gate = Promise<Void>()
        let scene = try await OutboxApp(server: AnsweringServer(.held(gate)))
        let first = try await scene.messages.outbox.patch(1, with: ["n": 1])
        let second = try await scene.messages.outbox.patch(1, with: ["n": 2])
        try await scene.live { _ in
            try await scene.transport.waitForRequest(number: 1)
            await #expect { try await scene.outbox.decide(.discard, for: first.id) } throws: {
                "\($0)".contains("is being sent")
            }
            try await scene.outbox.decide(.discard, for: second.id)
            await #expect { try await second.result() } throws: { ($0 as? FeathersError)?.code == .gone }
            gate.resolve(())
            _ = try await first.result()
        }
        #expect(scene.server.requests.count == 1)
    }

    @Test("What the app's function says when its app has ended does not count")
    func cancelled() async throws {
        let folder = try OutboxFolder()
        let asked = Promise<Void>()
        let scene = try await OutboxApp(in: folder, server: AnsweringServer(AnsweringServer.failing(.conflict))) {
            options in
            options.decide = { _ in
                asked.resolve(())
                // Ends when the app does.
                try? await Promise<Void>().value()
                return .discard
            }
        }
        try await scene.messages.outbox.patch(1, with: ["n": 1])
        try await scene.live { _ in try await asked.value() }
        let later = try await OutboxApp(in: folder)
        #expect(later.outbox.state.entries.map(\.status) == [.awaitingDecision])
        await later.outbox.close()
    }

    @Test("A refusal of any size is kept within bounds, in memory and in the file, and says what is missing")
    func hugeRefusal() async throws {
        let folder = try OutboxFolder()
        let refusal = FeathersError(
            .conflict, "No", data: .string(String(repeating: "x", count: 4 << 20)), errors: ["text": "old"])
        let scene = try await OutboxApp(in: folder, server: AnsweringServer(.error(refusal)))
        try await scene.messages.outbox.patch(1, with: ["n": 1])
        try await scene.live { _ in try await scene.outbox.wait { $0.entries.first?.status == .awaitingDecision } }
        #expect(try Data(contentsOf: folder.file).count < 128 * 1024)
        let later = try await OutboxApp(in: folder)
        for outbox in [scene.outbox, later.outbox] {
            let error = outbox.state.entries.first?.failure?.error
            #expect(error?.message == "No (too large to store: data)")
            #expect(error?.data == nil && error?.errors == ["text": "old"])
        }
        await later.outbox.close()
    }
}
