import FeathersCore
import FeathersTesting
import Foundation

@testable import FeathersSync

/// A random history: a server that executes in any order, a network that delays, loses and repeats, two users, and the
/// stores that follow. `Tests/Support/Model` has the same in Python.
final class StoreHistory {
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    enum Step: CaseIterable {
        case queue, execute, read, answer, found, hear, foreign, drop, gap, restore, confirm, open, close, discard
        case decide, leave, grow, refresh, lose

        var weight: Int {
            switch self {
            case .read, .found: 20
            case .execute: 18
            case .answer: 16
            case .queue: 14
            case .foreign: 12
            case .restore: 6
            case .decide, .hear, .grow: 4
            case .open: 3
            case .drop, .confirm, .close, .discard, .lose: 2
            case .gap, .leave, .refresh: 1
            }
        }

        /// Whether it is left out of calm histories.
        var isUnrest: Bool {
            [.drop, .gap, .restore, .open, .close, .discard, .leave, .confirm, .refresh, .lose].contains(self)
        }
    }

    /// A write of the outbox.
    struct Item: CustomStringConvertible {
        enum State { case waiting, sending, again, unknown, refused }

        var write: OutboxWrite
        let number: Int
        var state = State.waiting
        var mayHaveExecuted = false

        var isCreation: Bool { write.method == .create && write.recordID == nil && write.data?["id"] == nil }

        var description: String {
            "\(state) \(write.method) \(write.key(id: "id").prefix(8)) \(write.data ?? [:])"
        }

        func mentions(_ key: String) -> Bool {
            write.key(id: "id") == key || write.data?.object?.contains { $0.value == .string(key) } == true
        }
    }

    struct Call {
        let write: OutboxWrite
        /// The result, and how many events had been sent until then; nil before the execution.
        var answer: (result: StoreServer.Result?, position: Int)?
    }

    struct Find {
        let window: Window.ID
        let fetch: Window.Fetch
        /// The request in flight, and the first one.
        var request: Query<JSONValue>
        let first: Query<JSONValue>
        /// The pages of the requests before it.
        var pages = JoinedPages(id: "id")
        var answer: (page: Page<JSONValue>, position: Int)?
    }

    /// What a user's app knows.
    struct Device {
        var store: Store
        var queries: [Window.ID: StoreQuery] = [:]
        var growths: [Window.ID: Growth] = [:]
        var queue: [Item] = []
        /// How many events were heard or missed.
        var heard = 0
        /// The events that come late, or again.
        var late: [ServiceEvent] = []
        /// The greatest versions that windows have shown, by record.
        var shown: [Window.ID: [Int64: Int64]] = [:]

        init(_ store: Store) { self.store = store }
    }

    var random: SeededGenerator
    var server: StoreServer
    var devices: [String: Device] = [:]
    var user = StoreServer.users[0]
    var calls: [Call] = []
    var finds: [Find] = []
    var number = 0
    var isOnline = true
    /// Whether writes stay queued that were never sent.
    var isPaused = false
    /// The versions of own results that were shown.
    var own: [Int64: Int] = [:]
    var counts: [String: Int] = [:]
    /// How many records are changed.
    private let crowd: Int
    /// Whether it is about long lists, which grow often.
    private let isLong: Bool
    private let steps: [Step]

    init(_ traits: [ServerTrait], seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        server = StoreServer(traits, hasTotals: Bool.random(using: &random))
        let isCalm = Bool.random(using: &random)
        crowd = Bool.random(using: &random) ? 2 : 100
        let hearing = Bool.random(using: &random) ? 1 : 4
        isLong = Int.random(in: 0..<3, using: &random) == 0
        let growing = isLong ? 8 : 1
        steps = Step.allCases.filter { !isCalm || !$0.isUnrest }.flatMap { step in
            let factor = [.hear: hearing, .grow: growing][step] ?? 1
            return Array(repeating: step, count: step.weight * factor)
        }
        for user in StoreServer.users { devices[user] = Device(newStore) }
        let size = isLong ? 20..<60 : 0..<(chance(0.1) ? 30 : 6)
        for _ in 0..<Int.random(in: size, using: &random) { foreign(isCreation: true) }
        miss()
        for user in StoreServer.users {
            for query in examples.shuffled(using: &random).prefix(try choose([1, 1, 2, 3])) {
                try open(query, for: user)
            }
        }
    }

    var device: Device {
        get { devices[user] ?? Device(newStore) }
        _modify { yield &devices[user, default: Device(newStore)] }
    }

    private var examples: [StoreQuery] {
        StoreQuery.examples.filter { !isLong || $0.isSorted && ($0.limit != nil || has(.paginated)) }
    }

    private var newStore: Store { Store(id: "id", version: has(.versioned) ? "v" : nil) }

    func has(_ trait: ServerTrait) -> Bool { server.traits.contains(trait) }
    func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &random) < probability }
    func count(_ name: String) { counts[name, default: 0] += 1 }

    func choose<Element>(_ elements: [Element]) throws -> Element {
        guard let element = elements.randomElement(using: &random) else { throw Failure("nothing to choose from") }
        return element
    }

    /// Returns the index of a random element that meets a condition.
    func choose<Element>(_ elements: [Element], where condition: (Element) -> Bool) -> Int? {
        elements.indices.filter { condition(elements[$0]) }.randomElement(using: &random)
    }

    func open(_ query: StoreQuery, for user: String) throws {
        var query = query
        query.hasRoute = chance(0.1)
        let judge = try QueryJudge(query.query, id: "id")
        let window = Window(judge, hasRoute: query.hasRoute)
        guard let id = devices[user]?.store.open(window) else { return }
        devices[user]?.queries[id] = query
    }

    // MARK: - Users

    private func enqueue() throws {
        number += 1
        var seen: [JSONValue] = []
        for id in device.queries.keys.sorted() {
            for row in device.store.content(of: id)?.rows ?? ResultRows() {
                if let id = row.record["id"], !seen.contains(id) { seen.append(id) }
            }
        }
        let method = try choose(seen.isEmpty ? [ServiceMethod.create] : [.create, .patch, .patch, .update, .remove])
        var (target, data): (ServiceID?, JSONValue?) = (nil, method == .remove ? .none : data(method))
        if method != .create {
            target = ServiceID(try choose(Array(seen.prefix(crowd))))
        } else {
            let taken = device.queue.map { $0.write.key(id: "id") }
            if let id = freeID(), !seen.contains(.integer(id)), !taken.contains("\(id)") { data?["id"] = .integer(id) }
            if chance(0.2) { data?["p"] = try choose(seen + [0]) }
        }
        let write = OutboxWrite(
            id: uuid(), key: uuid(), path: "records", method: method, recordID: target, data: data, query: [:],
            route: [:], date: Date(timeIntervalSince1970: 0), identity: nil, base: nil, entityTag: nil, lane: "")
        device.queue.append(Item(write: write, number: number))
        device.store.show(OutboxQueue.Item(write: write, number: number))
    }

    private func uuid() -> UUID {
        var bytes = [UInt8](repeating: 0, count: 16)
        for index in bytes.indices { bytes[index] = .random(in: 0...255, using: &random) }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    func discard(_ id: UUID) {
        guard let index = device.queue.firstIndex(where: { $0.write.id == id }) else { return }
        let item = device.queue.remove(at: index)
        device.store.discarded(id)
        guard item.isCreation else { return }
        for other in device.queue where other.mentions(item.write.key(id: "id")) { discard(other.write.id) }
    }

    /// Discards a write that was refused, and sends one again whose outcome is unknown.
    func decide(_ item: Item) {
        switch item.state {
        case .refused: discard(item.write.id)
        case .unknown:
            set(item.write.id, .again, mayHaveExecuted: false)
            device.store.show(OutboxQueue.Item(write: item.write, number: item.number))
        default: break
        }
    }

    /// Signs out, and the other user in, whose queue was kept.
    func leave() throws {
        cut()
        (own, user) = ([:], user == StoreServer.users[0] ? StoreServer.users[1] : StoreServer.users[0])
        miss()
        let queries = device.queries.sorted { $0.key < $1.key }.map(\.value)
        if chance(0.5) {
            device.store.clear()
            return device.store.gap()
        }
        let failures = device.store.queue.reduce(into: [:]) { $0[$1.id] = $1.failure }
        (device.store, device.queries, device.growths, device.shown) = (newStore, [:], [:], [:])
        device.store.replaceQueue(
            device.queue.map { item in
                let failure = failures[item.write.id]
                return OutboxQueue.Item(
                    write: item.write, stage: failure == nil ? .waiting : .failed(isAsked: true),
                    execution: item.mayHaveExecuted ? .mayHaveExecuted : .neverSent, failure: failure,
                    number: item.number)
            })
        for query in queries { try open(query, for: user) }
    }

    func foreign(isCreation: Bool = false) {
        number += 1
        let ids = server.records.map(\.id)
        let methods: [ServiceMethod] = ids.isEmpty || isCreation ? [] : [.create, .patch, .patch, .update, .remove]
        let method = methods.randomElement(using: &random) ?? .create
        var data = data(method)
        guard method == .create else {
            guard let id = ids.prefix(crowd).randomElement(using: &random) else { return }
            let owner = server[id]?["owner"]?.string ?? user
            _ = server.execute(method, id, data, owner)
            return
        }
        let creations = device.queue.filter { $0.write.method == .create && $0.write.data?["p"] == nil }
        if has(.lookAlikes), let other = creations.randomElement(using: &random)?.write.data {
            data = .object(JSONObject(other.object?.filter { $0.key != "id" }.map { ($0.key, $0.value) } ?? []))
        }
        if chance(0.3) { data = data.setting("owner", to: .string(chance(0.5) ? "ada" : "bob")) }
        _ = server.execute(method, freeID(), data, user)
    }

    /// Returns the id of a removed record, if the server uses them again.
    private func freeID() -> Int64? {
        guard has(.reusedIDs), chance(0.5) else { return nil }
        return server.ids.filter { server[$0] == nil }.randomElement(using: &random)
    }

    private func data(_ method: ServiceMethod) -> JSONValue {
        func either() -> JSONValue { .integer(.random(in: 0..<2, using: &random)) }
        func value() -> JSONValue { has(.repeatingValues) ? either() : .integer(Int64(number)) }
        var data: JSONObject = ["a": value(), "b": value(), "c": either()]
        if method == .patch { data[chance(0.5) ? "b" : "c"] = nil }
        return .object(data)
    }

    func step(_ step: Step) throws {
        switch step {
        case .queue: try enqueue()
        case .foreign: foreign()
        case .execute: if let index = choose(calls, where: { $0.answer == nil }) { execute(index) }
        case .answer: if let index = choose(calls, where: { $0.answer != nil }) { try answer(index) }
        case .read: if let index = choose(finds, where: { $0.answer == nil }) { try read(index) }
        case .found: if let index = choose(finds, where: { $0.answer != nil }) { try found(index) }
        case .hear: try hear(.random(in: 1..<4, using: &random))
        case .confirm: device.store.confirm()
        case .open: try open(choose(examples), for: user)
        case .close:
            guard device.queries.count > 1 else { return }
            let id = try choose(device.queries.keys.sorted())
            (device.queries[id], device.growths[id]) = (nil, nil)
            device.store.close(id)
            finds.removeAll { $0.window == id }
        case .discard:
            if let index = choose(device.queue, where: { $0.state != .sending && $0.state != .again }) {
                discard(device.queue[index].write.id)
            }
        case .decide:
            let index = choose(device.queue) { $0.state == .unknown || $0.state == .refused }
            if let index { decide(device.queue[index]) }
        case .drop where isOnline:
            cut()
            isOnline = false
        case .restore where !isOnline:
            isOnline = true
            miss()
        case .gap where isOnline:
            miss()
            device.store.gap()
        case .leave: try leave()
        case .grow: try grow()
        case .refresh: try refresh()
        case .lose: if !finds.isEmpty { lose(.random(in: finds.indices, using: &random)) }
        case .drop, .restore, .gap: break
        }
    }

    func run() throws {
        for _ in 0..<(try choose([20, 40, 80, 150])) {
            let next = try choose(steps)
            try step(next)
            try pump()
            try look()
        }
        try step(.restore)
        for phase in ["paused", "at rest", "the other user"] {
            isPaused = phase == "paused"
            if phase == "the other user" { try step(.leave) }
            // Nothing tells of the changes of others.
            if has(.noEvents) { device.store.askAll() }
            try rest(phase)
        }
        guard device.queue.isEmpty else { throw Failure("still queued: \(device.queue)") }
    }
}
