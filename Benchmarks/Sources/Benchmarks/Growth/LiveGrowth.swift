import Feathers

/// Growth with live queries: their number, the records they show, and the records of the service.
enum LiveGrowth {
    static func group() throws -> GrowthGroup {
        var group = GrowthGroup("live queries")
        let first = Query.sorted(by: "id").limit(10)
        group.add("queries of the first 10", from: 1, unit: "change per query") { queries in
            let scene = try await Scene(records: 1_000, query: first, readers: queries)
            return GrowthRun(units: 1_000) { try await scene.change(times: 1_000 / queries) }
        }
        group.add("records beyond the first 10", from: 100, unit: "change") { records in
            let scene = try await Scene(records: records, query: first, readers: 1)
            return GrowthRun(units: 500) { try await scene.change(times: 500) }
        }
        for (name, data) in [
            ("records in a list, one changed in its place", ["likes": 5]),
            ("records in a list, one moved", ["rank": 0.5]),
        ] as [(String, JSONObject)] {
            group.add(name, from: 1_000, unit: "change") { records in
                let scene = try await ListScene(records: records, change: data)
                return GrowthRun(units: 1_000) { try await scene.change(times: 1_000) }
            }
        }
        return group
    }

    /// Changes one record of a list repeatedly, for a profiler.
    static func change(_ data: JSONObject, in records: Int, times: Int) async throws {
        try await ListScene(records: records, change: data).change(times: times)
    }

    /// A service, and live queries of it that have read their first result.
    private actor Scene {
        private let service: Service<JSONValue>
        private var readers: [LiveQuery<JSONValue>.AsyncIterator] = []
        private var version: Int64 = 1_000_000

        init(records: Int, query: Query<JSONValue>, readers count: Int) async throws {
            service = try await FeathersApp().use(
                MemoryService(multi: .all, records: Growth.records(records)), at: "messages")
            let service = service
            readers = (0..<count).map { _ in service.live(query).makeAsyncIterator() }
            try await read()
        }

        /// Changes a visible record repeatedly, and reads the result of every live query each time.
        func change(times: Int) async throws {
            for _ in 0..<times {
                version += 1
                try await service.patch(5, with: ["n": .integer(version)])
                try await read()
            }
        }

        private func read() async throws {
            // A local copy, because an actor's state can't be mutated across a suspension.
            var readers = self.readers
            self.readers = []
            for index in readers.indices { _ = try await readers[index].next() }
            self.readers = readers
        }
    }

    /// A service that answers a patch with the whole record, and returns its list only once.
    private actor Announcer: ServiceProtocol {
        let records: [JSONValue]

        init(records: [JSONValue]) { self.records = records }

        func find(_ params: Params) async throws -> JSONValue { .array(records) }
        func patch(_ id: ServiceID?, with data: JSONValue, _ params: Params) async throws -> JSONValue { data }
    }

    private struct Entry: Codable, Sendable {
        let id: Int
        let rank: Double
        let likes: Int
        let text: String
        let author: String
    }

    /// A live query of a whole list of models, in the middle of which one record changes.
    private actor ListScene {
        private let service: Service<JSONValue>
        private var reader: any AsyncIteratorProtocol<LiveSnapshot<Entry>, any Error>
        private let records: [JSONValue]

        init(records count: Int, change: JSONObject) async throws {
            let all = (0..<count).map { number -> JSONValue in
                [
                    "id": .integer(Int64(number)), "rank": .number(Double(number)), "likes": 0,
                    "text": .string("The text of entry \(number)"),
                    "author": "Ada Lovelace",
                ]
            }
            let middle = all[count / 2]
            var changed = middle
            for (name, value) in change { changed[name] = value }
            records = [changed, middle]
            let app = FeathersApp()
            service = try await app.use(Announcer(records: all), at: "entries")
            reader = app.service("entries", of: Entry.self).live(.sorted(by: "rank")).snapshots.makeAsyncIterator()
            try await read()
        }

        /// Changes a record, and changes it back the next time.
        func change(times: Int) async throws {
            for time in 0..<times {
                let record = records[time % 2]
                try await service.patch(record["id"]?.integer ?? 0, with: record)
                try await read()
            }
        }

        private func read() async throws {
            var reader = self.reader
            _ = try await reader.next(isolation: #isolation)
            self.reader = reader
        }
    }
}
