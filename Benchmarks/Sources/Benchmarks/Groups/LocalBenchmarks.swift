import Feathers
import Foundation

#if os(Linux)
    import CFloor
#endif

/// Local first: a queued write until it is shown, a screen that opens from disk, and the memory of a live query.
enum LocalBenchmarks {
    /// Part of the groups' names.
    static let name = "local first"

    /// A record of about 1 KB as JSON.
    struct Article: Codable, Sendable, Identifiable {
        struct Author: Codable, Sendable {
            let id: String
            let name: String
            let email: String
        }

        let id: Int
        let title: String
        let text: String
        let author: Author
        let tags: [String]
        let createdAt: Date
        let updatedAt: Date
        let isRead: Bool
        let likes: Int
    }

    /// - Parameter isShared: Whether the records have the same author, tags and dates. Otherwise, no two records have a
    ///   text in common.
    static func records(_ count: Int, isShared: Bool = true) -> [JSONValue] {
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        return (0..<count).map { number in
            let own = isShared ? "100000" : String(100_000 + number)
            let author: JSONObject = [
                "id": .string("5f0c1e9b-8f0e-4d55-9d0e-6a3c3f\(own)"), "name": .string("Ada Lovelace \(own)"),
                "email": .string("ada.lovelace.\(own)@example.com"),
            ]
            var record: JSONObject = [
                "id": .integer(Int64(number)), "title": .string("Article number \(number) of \(count)"),
            ]
            record["text"] = .string(String(repeating: "Lorem ipsum dolor sit amet \(number). ", count: 18))
            record["author"] = .object(author)
            record["tags"] =
                isShared ? ["swift", "feathers", "local first"] : .array((0..<3).map { .string("tag-\(own)-\($0)") })
            let created = Date(timeIntervalSince1970: 1_772_368_496.789 + (isShared ? 0 : Double(number)))
            record["createdAt"] = .string(created.formatted(format))
            record["updatedAt"] = .string((created + 3_600.1).formatted(format))
            record["isRead"] = .bool(number % 2 == 0)
            record["likes"] = .integer(Int64(number / 100))
            return .object(record)
        }
    }

    static func groups() async throws -> [BenchmarkGroup] { try await [writes(), opening(), long()] }

    /// A service that returns its records, and answers no other call.
    private actor Shelf: ServiceProtocol {
        let records: [JSONValue]

        init(records: [JSONValue]) { self.records = records }

        func find(_ params: Params) async throws -> JSONValue { .array(records) }
    }

    /// In memory where possible, because a disk takes longer than everything that is measured here.
    private static func folder(_ name: String) throws -> URL {
        let memory = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
        let parent =
            FileManager.default.isWritableFile(atPath: memory.path) ? memory : FileManager.default.temporaryDirectory
        let folder = parent.appending(path: "feathers-benchmark-\(name)", directoryHint: .isDirectory)
        try? FileManager.default.removeItem(at: folder)
        return folder
    }

    private static func byLikes<Model>() -> Query<Model> { .sorted(by: "likes") }

    // MARK: A queued write

    /// An outbox with 100 pending writes that are not sent, and a live query of 10,000 records, or one of the record
    /// alone that shows no pending writes.
    private actor Desk {
        private let app = FeathersApp()
        private let articles: Service<JSONValue>
        private let isShown: Bool
        private var reader: (any AsyncIteratorProtocol<LiveSnapshot<Article>, any Error>)?
        /// What the write changes.
        private let data: JSONValue

        init(_ name: String, writing data: JSONValue, isShown: Bool = true) async throws {
            let records = records(10_000)
            (self.data, self.isShown) = (data, isShown)
            try app.use(outbox: await Outbox(file: try folder(name).appending(path: "writes.outbox")))
            articles = try await app.use(Shelf(records: isShown ? records : [records[5_001]]), at: "articles")
            for number in 0..<100 { try await articles.outbox.patch(number * 97, with: ["isRead": true]) }
            // The journal stores the record that a live query knows, so both kinds of desk need one to write the same
            // entry.
            let models = app.service("articles", of: Article.self)
            let live = models.live(byLikes())
            reader = live.snapshots.makeAsyncIterator()
            try await show()
        }

        /// Queues a write and takes it back, and shows both.
        func play(times: Int) async throws {
            for _ in 0..<times {
                let write = try await articles.outbox.patch(5_001, with: data)
                if isShown { try await show() }
                try await app.outbox?.decide(.discard, for: write.id)
                if isShown { try await show() }
            }
        }

        private func show() async throws {
            // A local copy, because an actor's state can't be mutated across a suspension.
            guard var reader else { return }
            self.reader = nil
            _ = try await reader.next(isolation: #isolation)
            self.reader = reader
        }
    }

    /// The difference between a write that is shown and one that is not is the time from the journal to the snapshot.
    private static func writes() async throws -> BenchmarkGroup {
        var group = BenchmarkGroup("\(name), a queued write among 10,000 records, 100 pending")
        let desks = [
            ("journal only", try await Desk("hidden", writing: ["isRead": true], isShown: false)),
            ("shown in its place", try await Desk("shown", writing: ["isRead": true])),
            ("shown in another place", try await Desk("moved", writing: ["likes": 0])),
        ]
        for (name, desk) in desks {
            group.add(name, operations: 500, comparedWith: name == "journal only" ? nil : "journal only") {
                try await desk.play(times: 250)
            }
        }
        group.addMeasured("10,000 from 8 tasks", operations: 10_000, comparedWith: nil) { try await queueMany() }
        return group
    }

    /// Queues 10,000 writes from 8 tasks at the same time.
    private static func queueMany() async throws -> Cost {
        let app = FeathersApp()
        let outbox = try await Outbox(file: try folder("many").appending(path: "writes.outbox"))
        try app.use(outbox: outbox)
        let articles = try await app.use(Shelf(records: []), at: "articles").outbox
        let start = Cost.now()
        try await withThrowingDiscardingTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<1_250 { try await articles.patch(task * 1_250 + number, with: ["isRead": true]) }
                }
            }
        }
        let cost = Cost.now() - start
        await outbox.close()
        return cost
    }

    /// Queues a write and takes it back repeatedly, for a profiler.
    static func queue(_ data: JSONValue, isShown: Bool = true, times: Int) async throws {
        try await Desk("profile", writing: data, isShown: isShown).play(times: times)
    }

    // MARK: A screen from disk

    /// A server that does not answer.
    private actor Silence: ServiceProtocol {
        func find(_ params: Params) async throws -> JSONValue {
            try await Task.sleep(for: .seconds(3_600))
            return []
        }
    }

    private static func opening() async throws -> BenchmarkGroup {
        var group = BenchmarkGroup("\(name), all of 1,000 kept records")
        for others in [0, 1_000] {
            let folder = try folder("kept-\(others)")
            try await keep(records(1_000), beside: others, in: folder)
            let reference = others == 0 ? nil : "beside 0 other results"
            group.addMeasured("beside \(others) other results", operations: 10, comparedWith: reference) {
                try await open(folder, showing: 1_000, times: 10)
            }
        }
        return group
    }

    /// A list of 100,000 records on disk: the first of them, and one change.
    private static func long() async throws -> BenchmarkGroup {
        var group = BenchmarkGroup("\(name), a stored list of 100,000 records")
        let (folder, records) = (try folder("long"), records(100_000))
        try await keep(records, beside: 0, in: folder)
        group.addMeasured("first rows", operations: 10, comparedWith: nil) {
            try await open(folder, showing: 100, times: 10)
        }
        let keeper = try await Keeper(records: records, in: try Self.folder("long-change"))
        group.add("a change, stored and shown", operations: 50) {
            try await keeper.change(times: 50)
        }
        return group
    }

    /// Opens an app and reads a live query until some records are shown, repeatedly. By then, they have been read,
    /// parsed and decoded.
    /// - Returns: The cost, excluding closing the app.
    private static func open(_ folder: URL, showing count: Int, times: Int) async throws -> Cost {
        var cost = Cost.zero
        // The query's fetch ends in the background. If it held the last reference to the records, it would free them
        // while the next opening is measured.
        var previous: LiveSnapshot<Article>?
        for _ in 0..<times {
            let start = Cost.now()
            let app = FeathersApp()
            try await app.use(localStore: .readOnly(folder))
            try await app.use(Silence(), at: "articles")
            var snapshots = app.service("articles", of: Article.self).live(byLikes()).snapshots.makeAsyncIterator()
            var shown: LiveSnapshot<Article>?
            repeat { shown = try await snapshots.next() } while (shown?.count ?? count) < count
            guard let shown, shown.source != .server else { throw CocoaError(.fileReadCorruptFile) }
            cost += Cost.now() - start
            withExtendedLifetime((app, snapshots, previous)) {}
            previous = shown
        }
        return cost
    }

    /// A running app that keeps a list and changes one record of it.
    private actor Keeper {
        private let app = FeathersApp()
        private let articles: Service<JSONValue>
        private let record: JSONValue
        private var version = 0
        private var reader: any AsyncIteratorProtocol<LiveSnapshot<JSONValue>, any Error>
        private let running: Task<Void, any Error>

        init(records: [JSONValue], in folder: URL) async throws {
            record = records[records.count / 2]
            var store = LocalStore.directory(folder)
            store.writeDelay = .milliseconds(1)
            try await app.use(localStore: store)
            articles = try await app.use(Shelf(records: records), at: "articles")
            reader = articles.live(byLikes()).snapshots.makeAsyncIterator()
            running = Task { [app] in try await app.run() }
            try await show()
            try await waitUntilStored(since: .distantPast)
        }

        deinit { running.cancel() }

        func change(times: Int) async throws {
            for _ in 0..<times {
                version += 1
                let before = Date()
                var record = record
                record["title"] = .string("Version \(version)")
                articles.emit(.patched, record)
                try await show()
                try await waitUntilStored(since: before)
            }
        }

        private func show() async throws {
            // A local copy, because an actor's state can't be mutated across a suspension.
            var reader = self.reader
            _ = try await reader.next(isolation: #isolation)
            self.reader = reader
        }

        private func waitUntilStored(since date: Date) async throws {
            while try await app.localStore?.contents().results.first?.date ?? .distantPast <= date {
                try await Task.sleep(for: .milliseconds(2))
            }
        }
    }

    /// Opens a stored list of 1,000 records repeatedly, for a profiler.
    static func open(times: Int) async throws {
        let folder = try folder("profile")
        try await keep(records(1_000), beside: 0, in: folder)
        _ = try await open(folder, showing: 1_000, times: times)
    }

    private static func keep(_ records: [JSONValue], beside others: Int, in folder: URL) async throws {
        let app = FeathersApp()
        try await app.use(localStore: .directory(folder))
        let articles = try await app.use(Shelf(records: records), at: "articles")
        let small = try await app.use(Shelf(records: Array(records.prefix(10))), at: "small")
        try await withFeathersApp(app) { _ in
            for try await snapshot in articles.live(byLikes()).snapshots where snapshot.source == .server { break }
            for number in 0..<others {
                let query = Query.where("likes", .lessThan(number + 10))
                for try await snapshot in small.live(query).snapshots where snapshot.source == .server { break }
            }
        }
        await app.outbox?.close()
    }

    // MARK: Memory

    private struct InstantClient: HTTPClient {
        let body: [UInt8]

        func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
            HTTPResponse(status: 200, body: body, url: request.url)
        }
    }

    /// Returns what isn't measured in time: the memory of 100,000 records, relative to their JSON text.
    static func notes() async throws -> [String] {
        #if os(Linux)
            [
                try await memory(of: records(100_000), "with the same authors, tags and dates"),
                try await memory(of: records(100_000, isShared: false), "without a text in common"),
            ]
        #else
            []
        #endif
    }

    #if os(Linux)
        private static func memory(of records: [JSONValue], _ kind: String) async throws -> String {
            guard let url = URL(string: "http://localhost") else { throw URLError(.badURL) }
            let body = try JSONValue.array(records).serialized()
            let app = FeathersApp(transport: .rest(url, httpClient: InstantClient(body: body)))
            let articles = app.service("articles", of: Article.self)
            func share(_ held: () async throws -> Any) async throws -> String {
                let before = cfloor_allocated()
                let value = try await held()
                let share = Double(cfloor_allocated() - before) / Double(body.count)
                withExtendedLifetime(value) {}
                return String(format: "%.2f", share)
            }
            let live = try await share {
                var snapshots = articles.live(byLikes()).snapshots.makeAsyncIterator()
                let first = try await snapshots.next()
                return (first, snapshots)
            }
            let models = try await share { try await articles.find().data }
            let trees = try await share { try await app.service("articles").find().data }
            return """
                Memory of \(records.count) records of \(body.count / records.count) bytes \(kind), \
                in multiples of their JSON text: \
                \(live) for a live query and its snapshot, \(models) for an array of models, \(trees) for JSON values
                """
        }
    #endif
}
