import Feathers

/// Growth with related records: the messages of a list, and those of one author who changes.
enum RelationGrowth {
    static func group() -> GrowthGroup {
        var group = GrowthGroup("related records")
        group.add("records in a list, the author of 20 of them changed", from: 1_000, unit: "change") { records in
            let scene = try await Scene(records: records, ofAuthor: 20)
            return GrowthRun(units: 500) { try await scene.change(times: 500) }
        }
        group.add("records of the author who changes, in a list of 10,000", from: 10, unit: "record") { records in
            let scene = try await Scene(records: 10_000, ofAuthor: records)
            return GrowthRun(units: 10_000) { try await scene.change(times: 10_000 / records) }
        }
        return group
    }

    private struct Author: Codable, Sendable {
        let id: Int
        let name: String
    }

    private struct Message: Codable, Sendable, Queryable {
        let id: Int
        let text: String
        let authorID: Int

        enum CodingKeys: String, CodingKey { case id, text, authorID }

        static let author = relation(to: Author.self, at: "authors", by: .authorID)
    }

    /// A live query of messages with their authors, one of whom changes.
    private actor Scene {
        private let authors: Service<JSONValue>
        private var reader: any AsyncIteratorProtocol<LiveSnapshot<Message>, any Error>
        private var version = 0

        init(records: Int, ofAuthor count: Int) async throws {
            let app = FeathersApp()
            let people = (0..<records / count).map { number -> JSONObject in
                ["id": .integer(Int64(number)), "name": .string("Author \(number)")]
            }
            authors = try await app.use(MemoryService(records: people), at: "authors")
            let messages = (0..<records).map { number -> JSONObject in
                [
                    "id": .integer(Int64(number)), "text": .string("The text of message \(number)"),
                    "authorID": .integer(Int64(number % people.count)),
                ]
            }
            try await app.use(MemoryService(records: messages), at: "messages")
            let live = app.service("messages", of: Message.self).live(.sorted(by: "id")).including(Message.author)
            reader = live.snapshots.makeAsyncIterator()
            _ = try await read()
            let changes = try await change()?.changes.updates.count
            guard changes == count else {
                throw FeathersError(.generalError, "\(changes ?? 0) records have changed rather than \(count)")
            }
        }

        /// Changes an author, and reads the messages each time.
        func change(times: Int) async throws { for _ in 0..<times { _ = try await change() } }

        private func change() async throws -> LiveSnapshot<Message>? {
            version += 1
            try await authors.patch(7, with: ["name": .string("Name \(version)")])
            return try await read()
        }

        private func read() async throws -> LiveSnapshot<Message>? {
            // A local copy, because an actor's state can't be mutated across a suspension.
            var reader = self.reader
            defer { self.reader = reader }
            return try await reader.next(isolation: #isolation)
        }
    }
}
