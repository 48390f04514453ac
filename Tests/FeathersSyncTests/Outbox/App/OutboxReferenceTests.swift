import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

/// Writes whose data refers to records that other queued writes create.
@Suite("Writes that refer to each other", .timeLimit(.minutes(10)))
struct OutboxReferenceTests {
    /// An app whose server assigns the id 3 to boards, after it has failed as told.
    private struct Scene: Sendable {
        let app: FeathersApp
        let outbox: Outbox
        let transport: StubTransport
        private let folder: OutboxFolder

        init(in folder: OutboxFolder, failing codes: [FeathersError.Code] = [], saysIDs: Bool = true) async throws {
            let left = Locked(codes)
            self.folder = folder
            transport = StubTransport { request in
                guard request.path == "boards" else { return request.record }
                if let code = left.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { throw FeathersError(code, "no") }
                return saysIDs ? (request.data ?? [:]).setting("id", to: 3) : ["ok": true]
            }
            app = FeathersApp(transport: transport)
            if !saysIDs { app.servicesWithOtherResponses = ["boards"] }
            outbox = try await Outbox(file: folder.file) { options in
                options.isKeyed = true
                options.retry = OutboxRetry(initialDelay: .zero, maximumDelay: .zero)
            }
            try app.use(outbox: outbox)
        }

        func live(_ body: (FeathersApp) async throws -> Void) async throws {
            try await withFeathersApp(app, body)
            await outbox.close()
        }
    }

    @Test(
        "are sent after them, with the ids that the server has assigned",
        arguments: [[], [.unavailable], [.badGateway, .unavailable]] as [[FeathersError.Code]])
    func rewritten(failures: [FeathersError.Code]) async throws {
        let folder = try OutboxFolder()
        let scene = try await Scene(in: folder, failing: failures)
        let (boards, cards) = (scene.app.service("boards"), scene.app.service("cards"))
        let board = try await boards.outbox.create(["name": "Plans"])
        let text = board.id.uuidString.lowercased()
        let card: JSONValue = [
            "board": .string(text), "number": .provisionalNumber(for: text), "tags": [.string(text), "a"],
            "deep": ["board": .string(text)], "text": .string("about \(text)"),
        ]
        let queued = try await cards.outbox.create(card)
        try await scene.live { _ in _ = try await queued.result() }
        let sent = scene.transport.requests
        #expect(sent.map(\.path) == Array(repeating: "boards", count: failures.count + 1) + ["cards"])
        #expect(
            sent.last?.data == [
                "board": 3, "number": 3, "tags": [3, "a"], "deep": ["board": 3], "text": .string("about \(text)"),
            ])
    }

    @Test("do so after a restart too")
    func restarted() async throws {
        let folder = try OutboxFolder()
        let first = try await Scene(in: folder)
        let board = try await first.app.service("boards").outbox.create(["name": "Plans"])
        try await first.app.service("cards").outbox.create(["board": .string(board.id.uuidString.lowercased())])
        await first.outbox.close()
        let second = try await Scene(in: folder)
        try await second.live { _ in
            let left = try await second.outbox.flush(within: .seconds(300))
            #expect(left.isEmpty)
        }
        #expect(second.transport.requests.map(\.path) == ["boards", "cards"])
        #expect(second.transport.requests.last?.data == ["board": 3])
    }

    @Test("are discarded with the creation, and say why")
    func discarded() async throws {
        let folder = try OutboxFolder()
        let scene = try await Scene(in: folder)
        let (boards, cards) = (scene.app.service("boards"), scene.app.service("cards"))
        let board = try await boards.outbox.create(["name": "Plans"])
        let text = board.id.uuidString.lowercased()
        let card = try await cards.outbox.create(["board": .string(text)])
        let note = try await cards.outbox.create(["card": .string(card.id.uuidString.lowercased())])
        let other = try await cards.outbox.create(["text": "of its own"])
        let renamed = try await boards.outbox.patch(text, with: ["name": "Other plans"])
        try await scene.outbox.decide(.discard, for: board.id)
        #expect(scene.outbox.state.entries.map(\.id) == [other.id])
        for write in [card.id, note.id, renamed.id] {
            await #expect { try await scene.outbox.result(of: write) } throws: {
                FeathersError.Code.notFound ~= $0
            }
        }
        await #expect { try await card.result() } throws: { "\($0)".contains("whose creation was discarded") }
        await scene.outbox.close()
        let second = try await Scene(in: folder)
        #expect(second.outbox.state.entries.map(\.id) == [other.id])
        await second.outbox.close()
    }

    @Test("need a decision if the server does not say the id of what it has created")
    func unnamed() async throws {
        let folder = try OutboxFolder()
        let scene = try await Scene(in: folder, saysIDs: false)
        let board = try await scene.app.service("boards").outbox.create(["name": "Plans"])
        let text = board.id.uuidString.lowercased()
        let card = try await scene.app.service("cards").outbox.create(["board": .string(text)])
        try await scene.live { _ in
            try await scene.outbox.wait { $0.entries.map(\.status) == [.awaitingDecision] }
            try await scene.outbox.decide(.retry, for: card.id)
            try await scene.outbox.wait { $0.entries.map(\.status) == [.awaitingDecision] }
            try await scene.outbox.decide(.replace(["board": 3]), for: card.id)
            _ = try await card.result()
        }
        #expect(scene.transport.requests.map(\.path) == ["boards", "cards"])
        #expect(scene.transport.requests.last?.data == ["board": 3])
    }

    @Test("can be queued by an id that the server has replaced meanwhile")
    func late() async throws {
        let scene = try await Scene(in: try OutboxFolder())
        try await scene.live { app in
            let board = try await app.service("boards").outbox.create(["name": "Plans"])
            _ = try await board.result()
            let card = try await app.service("cards").outbox.create(["board": .string(board.id.uuidString.lowercased())]
            )
            #expect(card.write.data == ["board": 3])
            _ = try await card.result()
        }
    }

    @Test("still wait for a creation that was refused and is sent with other data")
    func replacedCreation() async throws {
        let scene = try await GroupScene()
        scene.refuse("Plans", .unprocessable)
        let board = try await scene.boards.outbox.create(["name": "Plans"])
        let card = try await scene.cards.outbox.create(["name": "milk", "board": board.provisionalID])
        try await scene.flush()
        try await scene.outbox.decide(.replace(["name": "Other plans"]), for: board.id)
        try await scene.flush()
        #expect(scene.names == ["Other plans", "milk"])
        #expect(try await card.result()["board"] == 1)
        await scene.close()
    }

    @Test("can be made to refer to a later creation, also after a restart, unless that waits for them")
    func replacedReference() async throws {
        let scene = try await GroupScene()
        scene.refuse("milk", .unprocessable)
        let card = try await scene.cards.outbox.create(["name": "milk"])
        try await scene.flush()
        let waiting = try await scene.boards.outbox.create(["name": "Later", "card": card.provisionalID])
        await #expect {
            try await scene.outbox.decide(
                .replace(["name": "tea", "board": .string(waiting.provisionalID)]), for: card.id)
        } throws: {
            "\($0)".contains("whose creation waits for the write")
        }
        #expect(scene.outbox.state.entries.map(\.status) == [.awaitingDecision, .waiting])
        let board = try await scene.boards.outbox.create(["name": "New"])
        try await scene.outbox.decide(.replace(["name": "tea", "board": .string(board.provisionalID)]), for: card.id)
        await scene.close()
        let second = try await GroupScene(in: scene.folder)
        try await second.flush()
        #expect(second.names == ["New", "tea", "Later"])
        #expect(second.executed.withLock { $0.map { $0.data?["board"] } } == [nil, 1, nil])
        #expect(second.executed.withLock { $0.last?.data?["card"] } == 2)
        await second.close()
    }

    @Test("are sent with the assigned ids even if they reached the disk after the creation, and the process was killed")
    func killedBeforeRewriting() async throws {
        let folder = try OutboxFolder()
        let journal = try Journal(folder.file)
        let creation = UUID.sample(1)
        // The referring write reached the disk after the end of the creation.
        try journal.append(.added(.sample(1)), .ended(.sample(1), made: [creation.text: 3]))
        try journal.append(.added(.sample(2, data: ["name": "milk", "board": .string(creation.text)])))
        journal.close()
        let scene = try await GroupScene(in: folder)
        #expect(try folder.found().map(\.write.data) == [["name": "milk", "board": 3]])
        try await scene.flush()
        #expect(scene.executed.withLock { $0.map(\.data) } == [["name": "milk", "board": 3]])
        await scene.close()
    }
}
