import Feathers
import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

/// A creation whose response was lost, while another user has created a record that looks like it.
@Suite("A creation whose response was lost")
struct LostCreationTests {
    private let transport = StubTransport { request in
        switch (request.path, request.method) {
        case ("messages", .create): throw FeathersError(.timeout, "lost", execution: .mayHaveExecuted)
        case (_, .find): return []
        default: return ["id": 7, "text": "Hi"]
        }
    }

    /// Queues a creation, edits of its record and a reference to it, and waits until the record 7 looks like it.
    private func afterLoss(
        _ body: (FeathersApp, Outbox, [QueuedWrite<JSONValue>]) async throws -> Void
    ) async throws {
        let outbox = try await Outbox(file: try OutboxFolder().file)
        let app = FeathersApp(transport: transport)
        try app.use(outbox: outbox)
        let messages = app.service("messages")
        let created = try await messages.outbox.create(["text": "Hi"])
        let id = created.id.uuidString.lowercased()
        var writes = [
            created, try await messages.outbox.patch(id, with: ["n": 1]),
            try await app.service("likes").outbox.create(["message": .string(id)]),
        ]
        try await withFeathersApp(app) { app in
            var live = messages.live(.sorted(by: "id")).snapshots.makeAsyncIterator()
            while let snapshot = try await live.next() {
                if case .failed = snapshot.first?.state { break }
            }
            messages.emit(.created, ["id": 7, "text": "Hi"])
            while let snapshot = try await live.next(), snapshot.count < 2 {}
            writes.append(try await messages.outbox.remove(id))
            try await body(app, outbox, writes)
        }
        await outbox.close()
    }

    private var sent: [String] {
        transport.requests.filter { $0.method != .find && $0.method != .get }.map {
            "\($0.method) \($0.path) \($0.id.map { "\($0)" } ?? "-") \($0.data?["message"].map { "\($0)" } ?? "")"
        }
    }

    @Test("offers what looks like its record, and takes nothing for it")
    func candidates() async throws {
        try await afterLoss { _, outbox, writes in
            #expect(outbox.state.entries.first?.failure?.candidates == [["id": 7, "text": "Hi"]])
            #expect(outbox.state.entries.map(\.id) == writes.map(\.id))
        }
    }

    @Test("is discarded with all that refers to its record")
    func discarded() async throws {
        try await afterLoss { app, outbox, writes in
            try await outbox.decide(.discard, for: writes[0].id)
            for write in writes { await #expect(throws: FeathersError.self) { try await write.result() } }
            // The other user's record is not the one that was created.
            _ = try await app.service("messages").outbox.patch(7, with: ["n": 2]).result()
        }
        #expect(sent == ["create messages - ", "patch messages 7 "])
    }

    @Test("is sent for by the id that the app names")
    func named() async throws {
        try await afterLoss { _, outbox, writes in
            try await outbox.decide(.executed(as: 7), for: writes[0].id)
            #expect(try await writes[0].result() == ["id": 7, "text": "Hi"])
            for write in writes.dropFirst() { _ = try await write.result() }
        }
        #expect(
            Set(sent) == ["create messages - ", "patch messages 7 ", "create likes - 7", "remove messages 7 "])
    }

    @Test("is not named by an id that cannot be its record's")
    func refused() async throws {
        try await afterLoss { _, outbox, writes in
            let provisional = ServiceID(writes[0].id.uuidString.lowercased())
            for (write, id) in [(writes[1], ServiceID(7)), (writes[2], 7), (writes[0], provisional)] {
                let refusal = await #expect(throws: FeathersError.self) {
                    try await outbox.decide(.executed(as: id), for: write.id)
                }
                #expect(refusal?.code == .badRequest)
            }
            #expect(outbox.state.entries.count == writes.count)
        }
    }

    @Test("is named by the id that the outbox has generated for it")
    func generated() async throws {
        let outbox = try await Outbox(file: try OutboxFolder().file) { $0.keyPlaces = [.recordID()] }
        let app = FeathersApp(transport: transport)
        try app.use(outbox: outbox)
        let created = try await app.service("messages").outbox.create(["text": "Hi"])
        let id = try #require(created.write.data?["id"].flatMap { ServiceID($0) })
        let edit = try await app.service("messages").outbox.patch(id, with: ["n": 1])
        try await withFeathersApp(app) { _ in
            for await state in outbox.stateUpdates() where state.entries.first?.failure != nil { break }
            try await outbox.decide(.executed(as: id), for: created.id)
            _ = try await edit.result()
        }
        await outbox.close()
        #expect(sent == ["create messages - ", "patch messages \(id) "])
    }

    @Test("whose id the outbox chose holds back no write of another user who has found the record")
    func otherUser() async throws {
        let server = Locked<[String]>([])
        let transport = StubTransport { request in
            server.withLock { $0.append("\(request.method) \(request.id?.description ?? "")") }
            if request.method == .create { throw FeathersError(.badGateway, "lost", execution: .mayHaveExecuted) }
            return ["id": request.id?.json ?? .null]
        }
        let app = FeathersApp(transport: transport)
        let outbox = try await Outbox(file: try OutboxFolder().file) { $0.keyPlaces = [.recordID()] }
        try app.use(outbox: outbox)
        app.setIdentity(Identity("alice"))
        let created = try await app.service("notes").outbox.create(["text": "a"])
        let id = try #require(created.recordID)
        app.setIdentity(Identity("bob"))
        let edit = try await app.service("notes").outbox.patch(id, with: ["text": "b"])
        try await withFeathersApp(app) { _ in _ = try await edit.result() }
        #expect(server.withLock(\.self) == ["patch \(id)"])
        await outbox.close()
    }
}
