import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@Suite("The key under which a record is first known", .timeLimit(.minutes(5)))
struct FirstKeyTests {
    private struct Card: Codable, Sendable, Equatable, Identifiable {
        var id: Int?
        var board: Int
    }

    private struct Name: Codable, Sendable, Identifiable {
        var id: String
    }

    private struct Tag: Codable, Sendable, Identifiable {
        struct ID: RawRepresentable, Codable, Hashable, Sendable {
            let rawValue: Int
        }

        var id: ID
    }

    @Test("stays the id of its row after a restart, while the record shows the server's id")
    func restart() async throws {
        let scene = try LocalScene()
        let first = try await scene.app()
        let queued = try await scene.notes(first).outbox.create(["text": "new"])
        let key = try #require(queued.write.provisionalKeys.first)
        try await withFeathersApp(first) { app in
            _ = try await queued.result()
            for try await snapshot in scene.notes(app).live(.sorted(by: "id")).snapshots
            where snapshot.source == .server {
                #expect(snapshot.rows.map(\.id) == [key])
                break
            }
        }
        await first.outbox?.close()

        scene.isOnline.withLock { $0 = false }
        let second = try await scene.app()
        try await withFeathersApp(second) { app in
            for try await snapshot in scene.notes(app).live(.sorted(by: "id")).snapshots where !snapshot.rows.isEmpty {
                #expect(snapshot.rows.map(\.id) == [key] && snapshot.rows.map(\.record.id) == [1])
                break
            }
        }
        await second.outbox?.close()
    }

    @Test("is a number if the model's ids are numbers, and can be written wherever an id can")
    func numbers() async throws {
        let folder = try OutboxFolder()
        let app = FeathersApp()
        let outbox = try await Outbox(file: folder.file)
        try app.use(outbox: outbox)
        let server = MemoryService(startID: 100)
        try await app.use(server, at: "cards")
        let cards = app.service("cards", of: Card.self)
        let board = try await cards.outbox.create(["board": 0])
        let id = try #require(board.recordID?.json.integer)
        #expect(id < 0)
        let card = try await cards.outbox.create(["board": id])
        try await cards.outbox.patch(#require(card.recordID), with: ["board": .integer(id)] as JSONValue)
        var live = cards.live(.sorted(by: "id")).makeAsyncIterator()
        #expect(Set(try await live.next()?.map(\.board) ?? []) == [0, Int(id)])
        try await withFeathersApp(app) { _ in
            _ = try await outbox.wait { $0.entries.isEmpty }
        }
        #expect(try await server.get(100, Params())["board"] == 0)
        #expect(try await server.get(101, Params())["board"] == 100)
        await outbox.close()
    }

    @Test("is text for other models")
    func kinds() {
        #expect(NumericID.isUsed(by: Card.self) && NumericID.isUsed(by: Tag.self))
        #expect(!NumericID.isUsed(by: Name.self) && !NumericID.isUsed(by: JSONValue.self))
    }
}
