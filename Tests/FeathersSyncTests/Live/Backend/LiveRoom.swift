import Feathers
import FeathersTesting
import Foundation
import TestBackend

/// The records of one test on the backend: somebody else changes them over a connection of their own, and they are
/// followed over one that leads through a proxy.
struct LiveRoom: Sendable {
    struct Item: Codable, Queryable, Equatable {
        var id: Int?
        var room: String
        var text: String
        var rank: Int

        enum CodingKeys: String, CodingKey { case id, room, text, rank }
    }

    /// The results that a live query has given, in their order.
    struct Results {
        fileprivate var iterator: AsyncThrowingStream<[Item], any Error>.Iterator

        mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> [Item]? {
            try await iterator.next(isolation: actor)
        }
    }

    let proxy: FaultProxy
    /// The records over the connection under test.
    let own: Service<Item>
    /// The records as somebody else sees and changes them.
    let others: Service<Item>
    private let room = UUID().uuidString

    /// Runs a body with a connection that stands.
    static func with(
        _ transports: [SocketIOTransport.EngineTransport], on backend: TestBackend, rootKeys: [RootKey] = [],
        _ body: (LiveRoom) async throws -> Void
    ) async throws {
        try await MachineLoad.settles()
        let server = try await backend.url()
        let proxy = try await FaultProxy(to: server)
        let app = FeathersApp(
            transport: .socketIO(proxy.url) {
                $0.transports = transports
                $0.reconnection = ReconnectionPolicy(initialDelay: .milliseconds(20), maximumDelay: .milliseconds(200))
                $0.callTimeout = .seconds(40)
            })
        // Not REST, over which numbers in queries are strings, which the backend compares with no number.
        try await withFeathersApp(FeathersApp(transport: .socketIO(server))) { others in
            try await withFeathersApp(app) { app in
                try await body(
                    LiveRoom(
                        proxy: proxy, own: app.service("messages", of: Item.self, rootKeys: rootKeys),
                        others: others.service("messages", of: Item.self)))
            }
        }
        try await proxy.close()
    }

    var query: Query<Item> { .where(.room, room) }

    func item(_ text: String, rank: Int) -> Item { Item(room: room, text: text, rank: rank) }

    /// Runs a body with the results of a live query, all of which are kept until they are read.
    func following(
        _ live: LiveQuery<Item>, _ body: (inout Results) async throws -> Void
    ) async throws {
        let (results, continuation) = AsyncThrowingStream.makeStream(of: [Item].self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    for try await records in live { continuation.yield(records) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            var iterator = Results(iterator: results.makeAsyncIterator())
            defer { group.cancelAll() }
            try await body(&iterator)
        }
    }

    /// One change, by somebody else or over the connection under test.
    func change(_ random: inout SeededGenerator, over service: Service<Item>) async throws {
        let known = try await others.find(query.limit(30)).compactMap(\.id)
        let rank = Int.random(in: 0...6, using: &random)
        guard let id = known.randomElement(using: &random), known.count > 3 else {
            try await service.create(item("new", rank: rank))
            return
        }
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1: try await service.create(item("new", rank: rank))
        case 2, 3: try await service.patch(id, with: ["rank": rank])
        case 4: try await service.update(id, with: item("replaced", rank: rank))
        default: try await service.remove(id)
        }
    }

    /// Takes the connection away in some way, and gives it back.
    func disturb(_ random: inout SeededGenerator) async throws {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: try await proxy.cut()
        case 1: try await proxy.reset()
        default:
            try await proxy.refuse()
            try await proxy.cut()
            // What happens now is told to nobody.
            for _ in 0..<4 { try await change(&random, over: others) }
            try await proxy.accept()
        }
    }
}
