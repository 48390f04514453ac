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
        group.add("records shown", from: 100, unit: "record in a result") { records in
            let scene = try await Scene(records: records, query: .sorted(by: "id"), readers: 1)
            return GrowthRun(units: 50_000) { try await scene.change(times: 50_000 / records) }
        }
        group.add("records shown, one inserted or removed", from: 100, unit: "record in a result") { records in
            let scene = try await Scene(records: records, query: .sorted(by: "id"), readers: 1)
            return GrowthRun(units: 50_000) { try await scene.replace(times: 25_000 / records) }
        }
        return group
    }

    /// A service, and live queries of it that have read their first result.
    private actor Scene {
        private let service: UntypedService
        private var readers: [LiveQuery<JSONValue>.AsyncIterator] = []
        private var version: Int64 = 1_000_000

        init(records: Int, query: Query, readers count: Int) async throws {
            service = try await FeathersApp().use(MemoryService(multi: .all, records: Growth.records(records)), at: "messages")
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

        /// Creates and removes a record repeatedly.
        func replace(times: Int) async throws {
            for _ in 0..<times {
                try await service.create(["id": 1_000_000, "text": "new", "n": 1])
                try await read()
                try await service.remove(1_000_000)
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
}
