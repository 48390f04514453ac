import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

/// A random history of a device with a replica of one room: changes with late dates and precise times, removals,
/// permissions, lost connections, restarts, long absences and queued writes.
///
/// The oracle is what `find` shows.
struct ReplicaHistory {
    typealias Message = ReplicaScene.Message

    private var random: SeededGenerator
    private let scene: ReplicaScene
    private let steps: Int
    private let isRoom: Bool
    private(set) var violations: [String] = []

    init(seed: UInt64, steps: Int) throws {
        random = SeededGenerator(seed: seed)
        let removing = ReplicaServer.Removing.allCases.randomElement(using: &random) ?? .marks
        scene = try ReplicaScene(removing, page: [3, 10, 40].randomElement(using: &random) ?? 10)
        self.steps = steps
        isRoom = Bool.random(using: &random)
        scene.fill(Int.random(in: 1...60, using: &random))
    }

    private var filter: Query<Message> { isRoom ? .where(.room, "a") : Query() }
    private var condition: Query<JSONValue> { isRoom ? ["room": "a"] : [:] }

    mutating func run() async throws {
        var left = steps
        while left > 0 {
            let share = min(left, Int.random(in: 1...25, using: &random))
            left -= share
            let user = Bool.random(using: &random) || left == 0 ? "ada" : "bob"
            try await live(share, as: user)
            // The app is away.
            for _ in 0..<Int.random(in: 0...5, using: &random) { change() }
            scene.server.pass(Int64.random(in: 0...86_400_000_000, using: &random))
            scene.server.isOnline.withLock { $0 = true }
            scene.server.sendsEvents.withLock { $0 = true }
        }
        try await end()
    }

    /// One process of the device.
    private mutating func live(_ steps: Int, as user: String) async throws {
        let app = try await scene.app(as: user)
        var history = self
        try await withFeathersApp(app) { app in
            let replica = try await history.scene.replica(app, history.filter)
            for _ in 0..<steps { try await history.step(app, replica) }
        }
        self = history
        await app.outbox?.close()
        scene.server.transport.restore()
    }

    private mutating func step(_ app: FeathersApp, _ replica: Replica<Message>) async throws {
        let server = scene.server
        switch Int.random(in: 0..<12, using: &random) {
        case 0...4: change()
        case 5:
            server.isOnline.withLock { $0 = false }
            server.transport.drop(.transportClose)
        case 6:
            server.isOnline.withLock { $0 = true }
            server.transport.restore()
        case 7:
            guard server.isOnline.withLock(\.self) else { return }
            await replica.upToDate()
        case 8:
            guard let id = ids.randomElement(using: &random) else { return }
            let text = "q\(UInt16.random(in: 0...9999, using: &random))"
            _ = try await app.service("messages").outbox.patch(
                ServiceID(.integer(id)) ?? "", with: ["text": .string(text)] as JSONValue)
        default:
            guard replica.stored.open?.head.isComplete == true else { return }
            try await compare(replica)
        }
    }

    /// Compares local queries with each other: what is found by an index is what the matcher finds.
    private mutating func compare(_ replica: Replica<Message>) async throws {
        let all = try await replica.find().sorted { $0.id < $1.id }
        let found = try await replica.find(.where(.room, .isIn(["a", "x"]))).sorted { $0.id < $1.id }
        let newest = try await replica.find(.sorted(by: .updatedAt, .descending).limit(3)).map(\.updatedAt)
        // The replica may have been brought up to date in the meantime.
        guard try await replica.find().sorted(by: { $0.id < $1.id }) == all else { return }
        if found != all.filter({ $0.room == "a" }) { violations.append("index: \(found), \(all)") }
        let sorted = all.map(\.updatedAt).sorted { ($0 ?? .distantPast) > ($1 ?? .distantPast) }
        if newest != Array(sorted.prefix(3)) { violations.append("order: \(newest) and \(sorted.prefix(3))") }
    }

    private var ids: [Int64] { scene.server.state.withLock { $0.records.keys.sorted() } }

    /// Something happens on the server.
    private mutating func change() {
        let server = scene.server
        let room = JSONValue.string(["a", "b"].randomElement(using: &random) ?? "a")
        let text = JSONValue.string("t\(UInt32.random(in: 0...99_999, using: &random))")
        let lateness = Bool.random(using: &random) ? 0 : Int64.random(in: 0...20_000_000, using: &random)
        if Bool.random(using: &random) { server.pass(Int64.random(in: 0...3_000_000, using: &random)) }
        let id = ids.randomElement(using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1: server.put(nil, ["text": text, "room": room], lateness: lateness)
        case 2, 3: if let id { server.put(id, ["text": text], lateness: lateness) }
        case 4: if let id { server.put(id, ["room": room], lateness: lateness) }
        case 5: if let id { server.remove(id) }
        case 6: if let id { server.state.withLock { _ = $0.hidden.insert(id) } }
        default: server.state.withLock { state in if let id = state.hidden.min() { state.hidden.remove(id) } }
        }
    }

    /// At rest, the replica is what `find` shows.
    private mutating func end() async throws {
        let app = try await scene.app(as: "ada")
        let scene = scene
        let (found, expected) = try await withFeathersApp(app) { [filter, condition] app in
            let replica = try await scene.replica(app, filter, every: .zero)
            await replica.upToDate()
            // Writes to hidden records are refused.
            for await state in try #require(app.outbox).stateUpdates() {
                for entry in state.entries where entry.status == .awaitingDecision {
                    try await app.outbox?.decide(.discard, for: entry.id)
                }
                if state.entries.isEmpty { break }
            }
            await replica.upToDate()
            let found = try await replica.find().map { "\($0.id) \($0.text)" }.sorted()
            let expected = scene.server.all(condition).map {
                "\($0["id"]?.description ?? "") \($0["text"]?.string ?? "")"
            }
            return (found, expected.sorted())
        }
        await app.outbox?.close()
        if found != expected {
            let (extra, missing) = (Set(found).subtracting(expected), Set(expected).subtracting(found))
            violations.append("at rest: too many \(extra.sorted()), missing \(missing.sorted())")
        }
    }
}
