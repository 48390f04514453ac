import FeathersCore
import FeathersSupport
import FeathersSync
import FeathersTesting
import TestBackend
import Testing

@Suite("A live query", .timeLimit(.minutes(10)))
struct LiveQueryTests {
    struct Message: Codable, Sendable, Equatable {
        var id: Int
        var text: String
        var rank: Int = 0
    }

    private func messages(_ texts: String..., pagination: Pagination? = nil) async throws -> Service<Message> {
        let app = FeathersApp()
        let records = texts.enumerated().map { index, text in
            ["id": .integer(Int64(index + 1)), "text": .string(text), "rank": .integer(Int64(index))] as JSONObject
        }
        try await app.use(
            MemoryService(startID: 1, multi: .all, pagination: pagination, records: records), at: "messages")
        return app.service("messages", of: Message.self)
    }

    @Test("gives the result and then every change of it")
    func changes() async throws {
        let messages = try await messages("one", "two")
        var live = messages.live(.sorted(by: "text")).makeAsyncIterator()
        #expect(try await live.next()?.map(\.text) == ["one", "two"])
        try await messages.create(["text": .string("a first"), "rank": 0] as JSONObject)
        #expect(try await live.next()?.map(\.text) == ["a first", "one", "two"])
        try await messages.patch(1, with: ["text": "zero"])
        #expect(try await live.next()?.map(\.text) == ["a first", "two", "zero"])
        try await messages.remove(2)
        #expect(try await live.next()?.map(\.text) == ["a first", "zero"])
        try await messages.update(1, with: Message(id: 1, text: "b"))
        #expect(try await live.next()?.map(\.text) == ["a first", "b"])
    }

    @Test("misses nothing between its making and its first result")
    func listensFirst() async throws {
        let messages = try await messages("one")
        var live = messages.live().makeAsyncIterator()
        try await messages.create(["text": .string("two"), "rank": 0] as JSONObject)
        #expect(try await live.next()?.count == 2)
        // Fetched after the creation: the event that comes late changes nothing, and is no news.
        try await messages.create(["text": .string("three"), "rank": 0] as JSONObject)
        #expect(try await live.next()?.map(\.text) == ["one", "two", "three"])
    }

    @Test("takes records in and out as they begin and cease to match")
    func membership() async throws {
        let messages = try await messages("one", "two", "three")
        var live = messages.live(.where("rank", .greaterThan(0)).sorted(by: "rank")).makeAsyncIterator()
        #expect(try await live.next()?.map(\.id) == [2, 3])
        try await messages.patch(1, with: ["rank": 9])
        #expect(try await live.next()?.map(\.id) == [2, 3, 1])
        try await messages.patch(2, with: ["rank": 0])
        #expect(try await live.next()?.map(\.id) == [3, 1])
    }

    @Test("fills a limited result up again, and pages of the service's own size")
    func refills() async throws {
        let messages = try await messages("1", "2", "3", "4", "5", "6", pagination: Pagination(default: 3))
        var live = messages.live(.sorted(by: "rank")).makeAsyncIterator()
        #expect(try await live.next()?.map(\.id) == [1, 2, 3])
        for removed in 1...3 {
            try await messages.remove(removed)
            // The record that follows the last one must be fetched.
            #expect(try await live.next()?.map(\.id) == Array(removed + 1...removed + 2))
            #expect(try await live.next()?.map(\.id) == Array(removed + 1...removed + 3))
        }
        try await messages.remove(4)
        #expect(try await live.next()?.map(\.id) == [5, 6])
    }

    @Test("tells what has changed in the terms of lists")
    func snapshots() async throws {
        let messages = try await messages("a", "b", "c", "d")
        var live = messages.live(.sorted(by: "text")).snapshots.makeAsyncIterator()
        let first = try #require(await live.next())
        #expect(first.changes.insertions == [0, 1, 2, 3])
        try await messages.patch(1, with: ["text": "e"])
        let moved = try #require(await live.next())
        #expect(moved.changes.moves.map { [$0.from, $0.to] } == [[0, 3]] && moved.changes.updates == [3])
        #expect(moved.changes.insertions.isEmpty && moved.changes.removals.isEmpty)
        try await messages.remove(3)
        #expect(try await live.next()?.changes.removals == [1])
        try await messages.patch(2, with: ["rank": 7])
        #expect(try await live.next()?.changes.updates == [0])
    }

    @Test("shows the selected properties, sorted by others")
    func selects() async throws {
        let messages = try await messages("a", "b", "c")
        var live = messages.live(.sorted(by: "text").selecting("text", "rank")).makeAsyncIterator()
        let first = try await live.next()
        #expect(
            first == [
                Message(id: 1, text: "a"), Message(id: 2, text: "b", rank: 1), Message(id: 3, text: "c", rank: 2),
            ])
    }

    @Test("leaves out what cannot be decoded, and says how many records that concerns")
    func skipped() async throws {
        let app = FeathersApp()
        let records: [JSONObject] = [["id": 1, "text": "one", "rank": 0], ["id": 2, "text": 5, "rank": 1]]
        try await app.use(MemoryService(startID: 3, records: records), at: "messages")
        let messages = app.service("messages", of: Message.self)
        var live = messages.live(.sorted(by: "id")).snapshots.makeAsyncIterator()
        var snapshot = try await live.next()
        #expect(snapshot?.map(\.record.id) == [1] && snapshot?.undecodableCount == 1)
        try await messages.json.create(["text": "three", "rank": 0])
        snapshot = try await live.next()
        #expect(snapshot?.map(\.record.id) == [1, 3] && snapshot?.undecodableCount == 1)
        try await messages.json.patch(2, with: ["text": "two"])
        snapshot = try await live.next()
        #expect(snapshot?.map(\.record.id) == [1, 2, 3] && snapshot?.undecodableCount == 0)
    }

    /// A record that counts its decodings by id, and cannot be decoded if its text is "bad".
    struct Counted: Codable, Sendable, Equatable {
        @TaskLocal static var decodings: Locked<[Int: Int]>?

        var id: Int
        var text: String

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let (id, text) = (
                try container.decode(Int.self, forKey: .id), try container.decode(String.self, forKey: .text)
            )
            if text == "bad" {
                throw DecodingError.dataCorruptedError(forKey: .text, in: container, debugDescription: "bad")
            }
            (self.id, self.text) = (id, text)
            Self.decodings?.withLock { $0[id, default: 0] += 1 }
        }
    }

    @Test("decodes each version of a record once, wherever it moves")
    func decodings() async throws {
        let messages = try await messages("a", "b", "c", "d")
        let counted = messages.of(Counted.self)
        let decodings = Locked<[Int: Int]>([:])
        try await Counted.$decodings.withValue(decodings) {
            var live = counted.live(.sorted(by: "text")).makeAsyncIterator()
            #expect(try await live.next()?.map(\.text) == ["a", "b", "c", "d"])
            try await messages.create(["text": .string("bb"), "rank": 0] as JSONObject)
            #expect(try await live.next()?.map(\.text) == ["a", "b", "bb", "c", "d"])
            try await messages.patch(1, with: ["text": "e"])
            #expect(try await live.next()?.map(\.text) == ["b", "bb", "c", "d", "e"])
            try await messages.remove(3)
            #expect(try await live.next()?.map(\.text) == ["b", "bb", "d", "e"])
        }
        #expect(decodings.withLock { $0 } == [1: 2, 2: 1, 3: 1, 4: 1, 5: 1])
    }

    @Test("gives its first result, also an empty one, and none that is the same", arguments: [0, 1, 3])
    func same(count: Int) async throws {
        let app = FeathersApp()
        let records = (0..<count).map { ["id": .integer(Int64($0)), "text": "a", "rank": 0] as JSONObject }
        try await app.use(MemoryService(startID: 10, records: records), at: "messages")
        let messages = app.service("messages", of: Message.self)
        let (results, continuation) = AsyncStream.makeStream(of: [Int].self)
        let settling = SettlingExecutor()
        let reader = await settling.start {
            for try await records in messages.live(.where("text", "a").sorted(by: "id")) {
                continuation.yield(records.map(\.id))
            }
        }
        var result = results.makeAsyncIterator()
        #expect(await result.next() == Array(0..<count))
        // Concerns the query's service, but not its result.
        try await messages.create(["text": .string("b"), "rank": 0] as JSONObject)
        await settling.settle()
        if count > 0 { try await messages.patch(0, with: ["text": "a"]) }
        await settling.settle()
        try await messages.create(["text": .string("a"), "rank": 0] as JSONObject)
        #expect(await result.next() == Array(0..<count) + [11])
        reader.cancel()
    }

    @Test("ends with a changed record that cannot be decoded; another reader that skips it goes on")
    func undecodable() async throws {
        let messages = try await messages("a", "b")
        let counted = messages.of(Counted.self)
        messages.app.requiresDecodableRecords = true
        var strict = counted.live(.sorted(by: "id")).makeAsyncIterator()
        messages.app.requiresDecodableRecords = false
        var lenient = counted.live(.sorted(by: "id")).makeAsyncIterator()
        #expect(try await strict.next()?.count == 2)
        #expect(try await lenient.next()?.count == 2)
        try await messages.patch(1, with: ["text": "bad"])
        await #expect { try await strict.next() } throws: { "\($0)".contains("(id 1)") }
        #expect(try await strict.next() == nil)
        #expect(try await lenient.next()?.map(\.id) == [2])
        try await messages.patch(1, with: ["text": "good"])
        #expect(try await lenient.next()?.map(\.text) == ["good", "b"])
    }

    @Test("ends with the failure of its first fetch, and with a record that is no model")
    func failures() async throws {
        let refusing = FeathersApp(transport: StubTransport { _ in throw FeathersError(.forbidden, "No") })
        await #expect {
            for try await _ in refusing.service("messages").live() {}
        } throws: { FeathersError.Code.forbidden ~= $0 }
        let strange = FeathersApp(transport: StubTransport { _ in [["id": 1, "text": 5]] })
        strange.requiresDecodableRecords = true
        await #expect {
            for try await _ in strange.service("messages", of: Message.self).live() {}
        } throws: { FeathersError.Code.generalError ~= $0 }
        let nameless = FeathersApp(transport: StubTransport { _ in [["_id": "x"]] })
        await #expect {
            for try await _ in nameless.service("messages").live() {}
        } throws: { FeathersError.Code.generalError ~= $0 }
        var mongo = nameless.service("messages").live(id: "_id").makeAsyncIterator()
        #expect(try await mongo.next()?.count == 1)
    }

    @Test(
        "says what in a query it cannot judge",
        arguments: [
            ["$limit": -1], ["$skip": "many"], ["rank": ["$near": 1]], ["$sort": "rank"],
        ] as [Query<Message>])
    func unusableQueries(query: Query<Message>) async throws {
        let messages = try await messages("one")
        await #expect {
            for try await _ in messages.live(query) {}
        } throws: { FeathersError.Code.badRequest ~= $0 }
    }

    @Test("of a query for a model is made without a throw, so that a view can keep its model")
    @MainActor
    func kept() async throws {
        let messages = try await messages("one")
        let model = LiveQueryModel(messages.live(Query<Message>().limit(1)))
        #expect(model.records.isEmpty && model.error == nil && !model.isLoaded)
    }

    @Test("ends when its reader is cancelled")
    func cancellation() async throws {
        let messages = try await messages("one")
        let reader = Task {
            for try await _ in messages.live() { withUnsafeCurrentTask { $0?.cancel() } }
        }
        await #expect(throws: CancellationError.self) { try await reader.value }
        #expect(messages.json.app.metrics.events.allSatisfy { $0.subscribers == 0 })
    }

    @Test("feeds a model for views")
    @MainActor
    func model() async throws {
        let messages = try await messages("one")
        let model = LiveQueryModel(messages.live())
        let running = Task { await model.run() }
        try await model.wait { $0.isLoaded }
        #expect(model.records.map(\.text) == ["one"] && model.error == nil)
        running.cancel()
        await running.value

        let broken = LiveQueryModel(messages.live(["$limit": -1]))
        await broken.run()
        #expect(broken.error != nil && !broken.isLoaded)
    }

    @Test("feeds a model that shows nothing of the previous user's when it runs again")
    @MainActor
    func modelOfNextUser() async throws {
        let (count, answered) = (Locked(0), Promise<Void>())
        let transport = StubTransport { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 2 { try await answered.value() }
            return [["id": 1, "text": .string("\(number)"), "rank": 0]]
        }
        let app = FeathersApp(transport: transport)
        app.setIdentity(Identity("alice"))
        let model = LiveQueryModel(app.service("messages", of: Message.self).live())
        let first = Task { await model.run() }
        try await model.wait { $0.isLoaded }
        first.cancel()
        await first.value
        #expect(model.records.map(\.text) == ["1"])
        app.setIdentity(Identity("bob"))
        let second = Task { await model.run() }
        try await transport.waitForRequest(number: 2)
        #expect(model.records.isEmpty && model.rows.isEmpty && model.source == nil && !model.isLoaded)
        answered.resolve(())
        try await model.wait { $0.isLoaded }
        second.cancel()
        await second.value
        // For the same user, they stay.
        let third = Task { await model.run() }
        try await transport.waitForRequest(number: 3)
        #expect(model.records.count == 1)
        third.cancel()
        await third.value
    }
}
