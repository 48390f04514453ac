import Feathers

/// Growth with the readers of events.
enum ReaderGrowth {
    static func group() -> GrowthGroup {
        var group = GrowthGroup("event readers")
        group.add("one event for every reader", from: 10, unit: "delivery") { readers in
            let service = try await FeathersApp().use(Growth.TrivialService(), at: "trivial")
            let events = 1_000_000 / readers
            return GrowthRun(units: 1_000_000) {
                try await read(events, by: readers, of: service)
            }
        }
        group.add("readers of other events", from: 10, unit: "skipped reader") { readers in
            let service = try await FeathersApp().use(Growth.TrivialService(), at: "trivial")
            let others = (0..<readers).map { _ in service.events(.removed) }
            let events = 20_000 / readers
            return GrowthRun(units: 20_000) {
                for _ in 0..<events { try await service.create(["text": "Hello"]) }
                withExtendedLifetime(others) {}
            }
        }
        group.add(
            "readers created and dropped", from: 100, unit: "reader",
            note: "the number of instructions is constant, but many readers outgrow the processor's caches"
        ) { readers in
            let service = try await FeathersApp().use(Growth.TrivialService(), at: "trivial")
            return GrowthRun(units: 10_000) {
                for _ in 0..<10_000 / readers {
                    let all = (0..<readers).map { _ in service.events(.created) }
                    withExtendedLifetime(all) {}
                }
            }
        }
        group.add("events buffered for a reader", from: 100, unit: "event") { waiting in
            let service = try await FeathersApp().use(Growth.TrivialService(), at: "trivial")
            return GrowthRun(units: 10_000) {
                for _ in 0..<10_000 / waiting { try await read(waiting, by: 1, of: service, isLate: true) }
            }
        }
        return group
    }

    /// Sends `count` events, and reads all of them in each of `readers` tasks. If `isLate`, reading starts after all
    /// events are sent.
    private static func read(_ count: Int, by readers: Int, of service: Service<JSONValue>, isLate: Bool = false)
        async throws
    {
        let sequences = (0..<readers).map { _ in service.events(.created, bufferingNewest: count) }
        func send() async throws { for _ in 0..<count { try await service.create(["text": "Hello"]) } }
        if isLate { try await send() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for events in sequences {
                group.addTask {
                    var iterator = events.makeAsyncIterator()
                    for _ in 0..<count { _ = await iterator.next() }
                }
            }
            if !isLate { try await send() }
            try await group.waitForAll()
        }
    }
}
