import Feathers
import Foundation

extension Mistake {
    /// Relations that find nothing.
    static let relations = [
        Mistake("A relation that the live query does not include", "row[Card.author]?.name") { _ in
            let app = try await board()
            let (warnings, cards) = (Warnings(of: app), app.service("cards", of: Card.self))
            let row = try await first(cards.live()).first
            _ = row.map { row in
                row[Card.author]?.name
            }
            return try await warnings.first()
        },
        Mistake("A relation to ids that its service does not have", "cards.live().including(Card.author)") { _ in
            let app = try await board(people: [["_id": 1, "name": "Ada"], ["_id": 2, "name": "Bob"]])
            let (warnings, cards) = (Warnings(of: app), app.service("cards", of: Card.self))
            let query = cards.live().including(Card.author)
            _ = try await first(query)
            return try await warnings.first()
        },
        Mistake(
            "A relation to many with a limit", #"relation(toMany: Card.self, at: "cards", by: .authorID, .limit(3))"#
        ) { _ in
            let newest = Person.relation(toMany: Card.self, at: "cards", by: .authorID, .limit(3))
            let people = try await board().service("people", of: Person.self)
            return try await thrown { _ = try await first(people.live().including(newest)) }
        },
        Mistake("The latest of a relation by an array of ids", "Card.readers.latest(1)") { _ in
            let cards = try await board().service("cards", of: Card.self)
            try await cards.patch(1, with: ["readerIDs": [1]])
            let latest =
                Card.readers.latest(1)
            return try await thrown { _ = try await first(cards.live().including(latest)) }
        },
    ]

    /// Lists that cannot be followed, and do not grow.
    static let lists = [
        Mistake("A list that grows before it is read", "try await cards.live(.limit(10)).loadMore()") { _ in
            let cards = try await board().service("cards", of: Card.self)
            return try await thrown { try await cards.live(.limit(10)).loadMore() }
        },
        Mistake("A list around a record, without an order", "cards.live().window(around: 2, of: 20)") { _ in
            let cards = try await board().service("cards", of: Card.self)
            return try await thrown { _ = try await first(cards.live().window(around: 2, of: 20)) }
        },
        Mistake("Records whose id has another name", #"app.service("people", of: Person.self).live()"#) { _ in
            let app = FeathersApp()
            try await app.use(MemoryService(id: "_id", records: [["_id": "a", "name": "Ada"]]), at: "people")
            return try await thrown { _ = try await first(app.service("people", of: Person.self).live()) }
        },
        Mistake("A replica in an app without a local store", "app.replicate(cards, version: .id)") { _ in
            let app = try await board()
            let cards = app.service("cards", of: Card.self)
            return try await thrown { _ = try await app.replicate(cards, version: .id) }
        },
        Mistake("A count of a service without pagination", "cards.liveCount()") { _ in
            let cards = try await board().service("cards", of: Card.self)
            return try await thrown { for try await _ in cards.liveCount() { return } }
        },
    ]

    /// Drafts that are not saved, and groups that are not queued.
    static let drafts = [
        Mistake("A draft of a property that someone else has changed", "try await draft.save()") { _ in
            let cards = try await board().service("cards", of: Card.self)
            var draft = try await cards.draft(1)
            draft.text = "Oat milk"
            try await cards.patch(1, with: ["text": "Bread"])
            return try await thrown {
                try await draft.save()
            }
        },
        Mistake("A draft that is queued in an app without an outbox", "try await draft.queue()") { _ in
            let cards = try await board().service("cards", of: Card.self)
            var draft = try await cards.draft(1)
            draft.text = "Oat milk"
            return try await thrown {
                try await draft.queue()
            }
        },
        Mistake(
            "A direct call in a group, about a record of the group",
            "try await cards.patch(queued.recordID, with: [:])"
        ) { _ in
            let folder = FileManager.default.temporaryDirectory.appending(path: "mistakes-\(UUID())")
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            defer { try? FileManager.default.removeItem(at: folder) }
            let outbox = try await Outbox(file: folder.appending(path: "writes.outbox"))
            let app = try await board()
            try app.use(outbox: outbox)
            let cards = app.service("cards", of: Card.self)
            let printed = try await thrown {
                try await outbox.group {
                    let queued = try await cards.outbox.create(["text": "Tea", "authorID": 1])
                    try await cards.patch(queued.recordID, with: [:])
                }
            }
            await outbox.close()
            return printed
        },
    ]
}

/// A card of a board.
struct Card: Codable, Queryable {
    var id: Int
    var text: String
    var authorID: Int
    var readerIDs: [Int]?

    enum CodingKeys: String, CodingKey { case id, text, authorID, readerIDs }

    static let author = relation(to: Person.self, at: "people", by: .authorID)
    static let readers = relation(toMany: Person.self, at: "people", byAll: .readerIDs)
}

/// The author of cards.
struct Person: Codable, Queryable {
    var id: Int?
    var name: String

    enum CodingKeys: String, CodingKey { case id, name }
}

/// An app with cards and people.
private func board(people: [JSONObject] = [["id": 1, "name": "Ada"]]) async throws -> FeathersApp {
    let app = FeathersApp()
    let cards: [JSONObject] = [["id": 1, "text": "Milk", "authorID": 8], ["id": 2, "text": "Bread", "authorID": 9]]
    try await app.use(MemoryService(records: cards), at: "cards")
    try await app.use(MemoryService(records: people), at: "people")
    return app
}

/// The first snapshot of a live query.
private func first<Record>(_ query: LiveQuery<Record>) async throws -> LiveSnapshot<Record> {
    for try await snapshot in query.snapshots { return snapshot }
    throw NotAMistake()
}
