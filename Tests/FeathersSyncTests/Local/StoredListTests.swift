import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@Suite("Stored lists", .timeLimit(.minutes(10)))
struct StoredListTests {
    private typealias Note = LocalScene.Note

    /// A server with many records, and an app that stores them.
    private struct Scene: Sendable {
        let local: LocalScene
        let app: FeathersApp

        init(_ count: Int, _ configure: (inout LocalStore) -> Void = { _ in }) async throws {
            local = try LocalScene()
            for number in 0..<count { _ = try await local.server.create(["text": .string("text \(number)")], Params()) }
            var store = LocalStore.directory(local.place)
            configure(&store)
            app = try await local.app({ [store] _ in store })
        }

        /// Runs the app until a query has shown the server's result, then changes records, each time until it is shown.
        func show(_ query: Query<LocalScene.Note> = .sorted(by: "id"), changing ids: [Int] = []) async throws {
            let notes = local.notes(app)
            var live = notes.live(query).snapshots.makeAsyncIterator()
            while try await live.next()?.source != .server {}
            await app.storedLists?.write(app.diagnostics)
            for id in ids {
                _ = try await notes.patch(id, with: ["text": "changed"])
                while try await live.next()?.first(where: { $0.record.id == id })?.record.text != "changed" {}
                await app.storedLists?.write(app.diagnostics)
            }
        }

        /// What a process shows first that reads the files.
        func stored(_ count: Int, in place: URL? = nil) async throws -> [Note]? {
            local.isOnline.withLock { $0 = false }
            defer { local.isOnline.withLock { $0 = true } }
            let place = place ?? local.place
            let reader = try await local.app({ _ in .readOnly(place) })
            var live = local.notes(reader).live(.sorted(by: "id")).snapshots.makeAsyncIterator()
            var notes: [Note]?
            repeat {
                guard let snapshot = try await live.next() else { return nil }
                guard case .stored(let date) = snapshot.source, date != .distantPast else { return nil }
                notes = snapshot.map(\.record)
            } while (notes?.count ?? 0) < count
            return notes
        }
    }

    @Test("are found as they were shown last, however long they are", arguments: [1, 199, 200, 201, 1000, 2500])
    func lengths(_ count: Int) async throws {
        let scene = try await Scene(count)
        try await scene.show(changing: Set([1, count / 2 + 1, count]).sorted())
        let expected = try await scene.local.server.find(Params(query: .sorted(by: "id")))
        #expect(try await scene.stored(count)?.map(\.text) == expected.array?.map { $0["text"]?.string })
        await scene.app.outbox?.close()
    }

    @Test("are whole after each statement, as they were before or after a change")
    func killed() async throws {
        let scene = try await Scene(3)
        try await scene.show()
        let outbox = try #require(scene.app.outbox)
        let (copies, place) = (Locked<[OutboxFolder]>([]), scene.local.place)
        try await outbox.journal.read { database in
            database.onStatement = {
                guard let copy = try? OutboxFolder() else { return }
                for name in ["local.sqlite", "local.sqlite-wal"] {
                    let bytes = try? Data(contentsOf: place.appending(path: name))
                    let file = copy.url.appending(path: name)
                    _ = FileManager.default.createFile(
                        atPath: file.path, contents: bytes ?? Data(), attributes: [.posixPermissions: 0o600])
                }
                copies.withLock { $0.append(copy) }
            }
        }
        try await scene.show(changing: [1, 2])
        try await outbox.journal.read { $0.onStatement = nil }
        await outbox.close()
        let found = copies.withLock { $0 }
        #expect(found.count > 20)
        var states: [[String]] = []
        for copy in found {
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: copy.url.path)
            let texts = try #require(try await scene.stored(3, in: copy.url)).map(\.text)
            if states.last != texts { states.append(texts) }
        }
        #expect(
            states == [
                ["text 0", "text 1", "text 2"], ["changed", "text 1", "text 2"], ["changed", "changed", "text 2"],
            ])
    }

    @Test("of the queries that were shown least recently make room, and no write does")
    func room() async throws {
        let scene = try await Scene(100) { $0.maximumSize = 2_000 }
        let write = try await scene.local.notes(scene.app).outbox.create(
            Note(text: String(repeating: "x", count: 5_000)))
        func list(_ start: Int) -> Query<Note> { .where("id", .greaterThan(start)).sorted(by: "id").limit(20) }
        for start in [0, 30, 60] { try await scene.show(list(start)) }
        var contents = try await #require(scene.app.localStore).contents()
        // Each list has 30 records of some 26 bytes.
        #expect(contents.results.map(\.count) == [30, 30] && contents.records.map(\.path) == ["notes"])
        #expect(contents.results.allSatisfy { $0.path == "notes" && $0.date <= $0.shown })
        #expect(contents.writes.map(\.id) == [write.id] && contents.writes[0].size > 5_000)
        #expect(contents.size == contents.records[0].size + contents.writes[0].size)
        // The second one is shown least recently, and the last one has 15 new records.
        try await scene.show(list(0))
        try await scene.show(list(45))
        contents = try await #require(scene.app.localStore).contents()
        #expect(contents.results.allSatisfy { !$0.query.contains("30") } && contents.results.count == 3)
        #expect(contents.records[0].size <= 2_000)
        // Records that two lists have take room once.
        for limit in [15, 16, 17, 18] { try await scene.show(list(0).limit(limit)) }
        #expect(try await #require(scene.app.localStore).contents().results.count == 7)
        await scene.app.outbox?.close()
    }

    @Test("that alone are larger than all may be are not kept, which is reported once", arguments: [10, 2500])
    func tooLarge(_ count: Int) async throws {
        let scene = try await Scene(count) { $0.maximumSize = 200 }
        try await scene.show(changing: [1])
        #expect(try await scene.local.lists().isEmpty)
        #expect(try await scene.app.outbox?.records(at: "notes").isEmpty == true)
        await scene.app.outbox?.close()
    }

    @Test("are not made of queries that store nothing, which show no stored ones")
    func storesNothing() async throws {
        let scene = try await Scene(2)
        let notes = scene.local.notes(scene.app)
        var live = notes.live(.sorted(by: "id"), stores: false).snapshots.makeAsyncIterator()
        while try await live.next()?.source != .server {}
        await scene.app.storedLists?.write(scene.app.diagnostics)
        #expect(try await scene.local.lists().isEmpty)
        try await scene.show()
        scene.local.isOnline.withLock { $0 = false }
        try await notes.outbox.create(Note(text: "queued"))
        var other = notes.live(.sorted(by: "id"), stores: false).snapshots.makeAsyncIterator()
        #expect(try await other.next()?.map(\.record.text) == ["queued"])
        await scene.app.outbox?.close()
    }

    @Test("that two queries share are stored once, as changes to what is there")
    func shared() async throws {
        let scene = try await Scene(5)
        try await scene.show()
        try await scene.show(changing: [3])
        #expect(try await scene.local.lists().map(\.count) == [5])
        let number = try await scene.app.outbox?.journal.read { try $0.integer("SELECT number FROM lists") }
        #expect(try await scene.app.outbox?.records(at: "notes").count == 5 && number == 1)
        #expect(try await scene.stored(5)?[2].text == "changed")
        await scene.app.outbox?.close()
    }

    @Test("are followed by a process that only reads, with the queued writes")
    func followed() async throws {
        let scene = try await Scene(2)
        try await scene.show()
        let clock = ManualClock()
        // Its server is never there, so that it shows what is stored.
        let reader = FeathersApp(
            transport: StubTransport { _ in throw FeathersError(.unavailable, "No server", execution: .neverSent) })
        var store = LocalStore.readOnly(scene.local.place)
        (store.clock, store.responseDelay) = (clock, .seconds(3600))
        try await reader.use(localStore: store)
        var live = scene.local.notes(reader).live(.sorted(by: "id")).snapshots.makeAsyncIterator()
        #expect(try await live.next()?.map(\.record.text) == ["text 0", "text 1"])
        try await scene.local.notes(scene.app).outbox.create(Note(text: "queued"))
        func follow() async throws {
            try await clock.waitForSleepers(2)
            clock.advance(by: .milliseconds(500))
        }
        async let first: Void = follow()
        #expect(try await live.next()?.map(\.record.text) == ["text 0", "text 1", "queued"])
        try await first
        let outbox = try #require(scene.app.outbox)
        for write in outbox.state.entries { try await outbox.decide(.discard, for: write.id) }
        try await scene.show(changing: [1])
        async let second: Void = follow()
        var texts: [String]?
        repeat { texts = try await live.next()?.map(\.record.text) } while texts?.first == "text 0"
        #expect(texts == ["changed", "text 1"])
        try await second
        await outbox.close()
    }

    @Test("of queries that ended before the app ran are completed by the writes that were executed then")
    func beforeTheRun() async throws {
        let scene = try await Scene(2) { $0.writeDelay = .seconds(3600) }
        let notes = scene.local.notes(scene.app)
        do {
            var live = notes.live(.sorted(by: "id")).snapshots.makeAsyncIterator()
            while try await live.next()?.source != .server {}
        }
        try await withFeathersApp(scene.app) { app in
            try await notes.outbox.patch(1, with: ["text": "executed"])
            #expect(try await app.outbox?.flush(within: .seconds(300)).isEmpty == true)
        }
        #expect(try await scene.stored(2)?.map(\.text) == ["executed", "text 1"])
        await scene.app.outbox?.close()
    }

    @Test("have records in any form that JSON has")
    func forms() async throws {
        var deep: JSONValue = []
        for _ in 0..<1_000 { deep = [deep] }
        let many = JSONObject((0..<40).map { ("key \($0)", .integer($0)) })
        let judge = try QueryJudge(.sorted(by: "author.name"), id: "id")
        let forms: [JSONObject] = [
            ["id": 1, "text": "a", "author": ["name": "Ada \"A.\" \u{1F600}"]],
            ["id": 2, "text": 5, "author": ["name": "Bob"]],
            ["id": 3, "text": "a", "\"quoted\"": 1], ["id": 4, "text": "a", "many": .object(many)],
            ["id": 5, "text": "a", "deep": deep],
            ["id": try JSONValue(parsing: "12345678901234567890123"), "text": "a"],
        ]
        for record in forms {
            let stored = StoredRecord(
                number: 1, key: record["id"]?.description ?? "", change: 1,
                json: try JSONValue.object(record).serialized())
            let row = try #require(try judge.storedRows(of: [stored], from: 0).first)
            #expect(row.key == record["id"]?.description && row.sortValue == record["author"]?["name"])
            #expect(row.record == .object(record))
        }
        for text in ["{}", "{", #"{"id":2}"#] {
            let stored = StoredRecord(number: 1, key: "1", change: 1, json: Array(text.utf8))
            #expect(throws: DamagedList.self) { try judge.storedRows(of: [stored], from: 0) }
        }
    }

    @Test("include no response of which a window has not taken account, and leave its record alone")
    func lacking() throws {
        var store = Store(id: "id")
        // Shaped for its query, so that it does not take responses.
        let window = store.open(Window(try QueryJudge(Query<JSONValue>().selecting("text"), id: "id")))
        let begun = store.beginFetch(window)
        try store.fetched(window, try #require(begun).fetch.time, Page(data: []))
        let id = UUID()
        let write = OutboxWrite(
            id: id, key: id, path: "records", method: .patch, recordID: 2, data: ["text": "b"], query: Query(),
            route: [:], date: Date(), identity: nil, lane: "2")
        store.show(OutboxQueue.Item(write: write, number: 1))
        store.begun(id, isRepeated: false)
        store.respond(
            to: id, ServerResult(value: ["id": 2, "text": "b"], sender: RequestSender(nil), change: 5))
        let opened = try #require(store.windows[window])
        let state = ListState(opened, lacking: store.answered.filter(opened.replays), at: 9)
        #expect(state.rows.isEmpty && state.lacking == ["2"] && state.change == 4 && state.taken == 9)
        #expect(ListState(opened, lacking: [], at: 9).change == 9)
    }
}
