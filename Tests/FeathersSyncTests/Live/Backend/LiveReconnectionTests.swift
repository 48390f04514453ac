import Feathers
import FeathersTesting
import TestBackend
import Testing

@Suite(
    "A live query over a connection that is lost again and again", .serialized, .timeLimit(.minutes(10)),
    .inTurn, .enabled(if: !TestBackend.isSkipped))
struct LiveReconnectionTests {
    // Its own, so that no other suite's events come in between.
    private static let backend = TestBackend(variables: [:])

    static let ways: [[SocketIOTransport.EngineTransport]] = [[.webSocket], [.polling], [.polling, .webSocket]]

    @Test(
        "equals a fresh find once everything has settled, and follows every change", arguments: ways,
        [1, 2] as [UInt64])
    func settles(way: [SocketIOTransport.EngineTransport], seed: UInt64) async throws {
        try await LiveRoom.with(way, on: Self.backend) { room in
            var random = SeededGenerator(seed: seed)
            let query = room.query.where(.rank, .greaterThan(1)).sorted(by: .rank, .descending).limit(6)
            for _ in 0..<6 { try await room.change(&random, over: room.others) }
            try await room.following(room.own.live(query)) { results in
                for _ in 0..<8 {
                    for _ in 0..<4 { try await room.change(&random, over: room.others) }
                    // Over the connection that may be lost: a change that was sent may have been made.
                    for _ in 0..<2 { try? await room.change(&random, over: room.own) }
                    try await room.disturb(&random)
                }
                // The last disturbance may take the connection only now: all that follows needs one that answers.
                while (try? await room.own.find(query)) == nil {}
                // First of all, so that it is seen.
                try await room.others.create(room.item("last", rank: 100))
                let fresh = try await room.others.find(query).data
                while let records = try await results.next(), records != fresh {}

                // Each change is shown, whoever makes it. A limited result may be a record short until the next one is
                // fetched.
                func follow() async throws {
                    let fresh = try await room.others.find(query).data
                    while let records = try await results.next(), records != fresh {}
                }
                for (text, service) in [("mine", room.own), ("theirs", room.others), ("mine too", room.own)] {
                    let created = try await service.create(room.item(text, rank: 101))
                    try await follow()
                    try await service.remove(created.id ?? 0)
                    try await follow()
                }
                #expect(try await room.proxy.counters().connections > 6)
            }
        }
    }

    @Test("finds its records behind root keys, its events without them", arguments: ways)
    func rootKeys(way: [SocketIOTransport.EngineTransport]) async throws {
        // What the server answers with is a page, whose records stand at `data`.
        try await LiveRoom.with(way, on: Self.backend, rootKeys: ["data"]) { room in
            let query = room.query.sorted(by: .rank, .descending).limit(3)
            var live = room.own.live(query).makeAsyncIterator()
            #expect(try await live.next() == [])
            for rank in 1...5 {
                try await room.others.create(room.item("\(rank)", rank: rank))
                #expect(try await live.next() == room.others.find(query).data)
            }
            try await room.proxy.refuse()
            try await room.proxy.cut()
            try await room.others.removeAll(query: room.query.where(.rank, .greaterThanOrEqual(4)))
            try await room.proxy.accept()
            // A poll that began after all this has missed nothing: then one goes after the other.
            while let records = try await live.next(), records.map(\.rank) != [3, 2, 1] {}
            #expect(try await room.others.find(query).map(\.rank) == [3, 2, 1])
        }
    }

    @Test("feeds a model that views observe, across a loss", arguments: ways)
    @MainActor
    func model(way: [SocketIOTransport.EngineTransport]) async throws {
        try await LiveRoom.with(way, on: Self.backend) { room in
            let model = LiveQueryModel(room.own.live(room.query.sorted(by: .rank)))
            async let _ = model.run()
            try await model.wait { $0.isLoaded }
            #expect(model.records.isEmpty && model.error == nil)
            try await room.others.create(room.item("first", rank: 1))
            try await model.wait { $0.records.map(\.text) == ["first"] }
            try await room.proxy.refuse()
            try await room.proxy.reset()
            try await room.others.create(room.item("missed", rank: 0))
            try await room.proxy.accept()
            try await model.wait { $0.records.map(\.text) == ["missed", "first"] }
            #expect(model.error == nil)
        }
    }
}
