import Feathers
import FeathersCore
import FeathersSupport
import Foundation

@testable import FeathersSync
@testable import FeathersTesting

/// A live query of a local-first history.
struct LocalList: Sendable, CustomStringConvertible {
    let place: LocalPlace
    let query: Query<JSONValue>

    /// The query as it is sent: records that sort the same are in the order of their ids.
    var request: Query<JSONValue> { query.json["$sort"] == nil ? query : query.sorted(by: "id") }
    var description: String { "\(place.path) \(place.team ?? "") \(query.json)" }
}

/// A random history of an app that shows its queued writes and keeps its results: what the server does and when the app
/// hears of it is up to the history. After every step, the laws hold; at rest, each live query shows what the server
/// answers.
///
/// Confined to the task that runs it.
final class LocalHistory {
    static let users = ["alice", "bob"]
    private static let queries: [Query<JSONValue>] = [
        Query(), .sorted(by: "rank"), .where("kind", "a").sorted(by: "rank"), .sorted(by: "rank", .descending).limit(3),
        .where("rank", .greaterThan(2)).sorted(by: "mark"),
    ]

    let report: LocalReport
    let traits: Set<LocalTrait>
    let hasConnection: Bool
    private let root: TemporaryFolder
    var random: SeededGenerator
    var server: LocalServer
    var process: LocalProcess
    let lists: [LocalList]
    /// What each live query shows.
    var shown: [LiveSnapshot<JSONValue>?]
    var user = "alice"
    var isOnline = true
    /// Whether the server can replay what is missed, because this connection has been there before.
    var canRecover = false
    /// The changes of which the connection will tell.
    var outgoing: [LocalServer.Change] = []
    /// The writes that were on their way when the connection was lost.
    var late: [HeldTransport.Call] = []
    /// The writes that were accepted.
    var writes = LocalWrites()
    private var lastMark: Int64 = 0

    init(seed: UInt64, hasConnection: Bool, _ report: LocalReport) async throws {
        var random = SeededGenerator(seed: seed)
        let traits = LocalTrait.random(hasConnection: hasConnection, using: &random)
        var places = [LocalPlace(path: "records")]
        if traits.contains(.routes) {
            places = ["red", "blue"].map { LocalPlace(path: "teams/:team/records", team: $0) }
        }
        if traits.contains(.services) { places.append(LocalPlace(path: "others")) }
        let queries = Self.queries.shuffled(using: &random).map { query in
            traits.contains(.growth) ? query.limit(Int.random(in: 1...3, using: &random)) : query
        }
        // Two lists of the only place, or one of each.
        lists = (0..<max(2, places.count)).map { LocalList(place: places[$0 % places.count], query: queries[$0]) }
        (self.random, self.report, self.hasConnection, self.traits) = (random, report, hasConnection, traits)
        server = LocalServer(traits)
        shown = lists.map { _ in nil }
        root = try TemporaryFolder()
        process = try await LocalProcess(
            in: root.url.appending(path: "store", directoryHint: .isDirectory), lists, as: user,
            hasConnection: hasConnection, isOnline: true, traits)
        for user in Self.users {
            for _ in 0..<4 {
                for place in places { _ = change(.create, at: place, nil, data(), as: user) }
            }
        }
        report.begin(with: traits)
        report.note("lists \(lists)")
    }

    func run(steps: Int) async throws {
        await look()
        var seconds = 0.0
        for _ in 0..<steps where report.violations.isEmpty {
            let step = LocalStep.random(using: &random)
            report.begin(step)
            // Less than half a minute in all, so that no executed write counts as older than what is on the disk.
            let pause: Double = pick([0, 0, 0.01, 0.01, 0.01, 0.1, 0.1, 1.2]) ?? 0
            if seconds + pause < 29 {
                Simulation.pass(pause)
                seconds += pause
            }
            try await take(step)
            await look()
        }
        try await end()
        _ = try await process.kill()
    }

    private func take(_ step: LocalStep) async throws {
        switch step {
        case .queue: try await queue()
        case .execute: execute(refusing: false)
        case .refuse: execute(refusing: true)
        case .answer: answer()
        case .lose: lose()
        case .hear: hear(Int.random(in: 1...3, using: &random))
        case .foreignChange: foreignChange()
        case .decide: try await decide()
        case .cut: cut()
        case .restore: restore()
        case .retry: process.wakeAll()
        case .keep: await process.keep()
        case .kill: try await kill(isOnline: true)
        case .killOffline: try await kill(isOnline: false)
        case .changeUser: changeUser()
        case .screen: await openOrClose()
        case .grow: grow()
        case .rest: try await rest()
        }
    }

    func has(_ trait: LocalTrait) -> Bool { traits.contains(trait) }
    func pick<Element>(_ elements: [Element]) -> Element? { elements.randomElement(using: &random) }
    func chance(_ one: Int, in all: Int) -> Bool { Int.random(in: 0..<all, using: &random) < one }

    /// Closes the screen of a list, or opens it again.
    private func openOrClose() async {
        guard let index = pick(Array(lists.indices)) else { return }
        let isOpen = process.readers[index] != nil
        report.note("\(isOpen ? "close" : "open") \(lists[index])")
        if isOpen { await process.close(index) } else { process.open(index) }
        shown[index] = nil
    }

    private func grow() {
        guard has(.growth), let index = pick(lists.indices.filter { process.readers[$0] != nil }) else { return }
        let count = Int.random(in: 1...3, using: &random)
        report.note("\(lists[index]) by \(count)")
        process.grow(index, by: count)
    }

    // MARK: Writes

    func data() -> JSONObject {
        lastMark += 1
        return [
            "kind": .string(pick(["a", "b"]) ?? "a"), "rank": .integer(.random(in: 0...5, using: &random)),
            "mark": .integer(lastMark),
        ]
    }

    /// The ids on the screen. Provisional ids are random, so they must not decide the order.
    func shownIDs(at place: LocalPlace) -> [ServiceID] {
        var seen: Set<ServiceID> = []
        return zip(lists, shown).filter { $0.0.place == place }.compactMap(\.1).flatMap(\.records)
            .compactMap { $0["id"].flatMap { ServiceID($0) } }.filter { seen.insert($0).inserted }
    }

    private func queue() async throws {
        guard user != "nobody" || has(.signedOutWrites), let place = pick(lists.map(\.place)) else { return }
        let outbox = process.app.service(place.path).outbox
        var data = data()
        let isPartial = Bool.random(using: &random)
        var target = pick(shownIDs(at: place))
        if has(.heldIDs), chance(1, in: 3), let held = pick(writes.held(at: place, by: user)) { target = held }
        let method: ServiceMethod =
            target == nil ? .create : pick([.create, .patch, .patch, .patch, .update, .remove]) ?? .patch
        if method == .patch, isPartial { data["kind"] = nil }
        if has(.services) {
            data["ref"] =
                lists.map(\.place).filter { $0 != place }.flatMap { shownIDs(at: $0) }
                .randomElement(using: &random)?.json
        }
        let query: Query<JSONValue> =
            has(.shapedResponses) && chance(1, in: 2) ? Query().selecting("id", "rank") : Query()
        report.note(
            "\(method) \(place.path) \(place.team ?? "") \(target?.description ?? "") \(JSONValue.object(data))")
        let (id, json, route) = (target ?? .string(""), JSONValue.object(data), place.route)
        let queued =
            switch method {
            case .create: try await outbox.create(json, query: query, route: route)
            case .patch: try await outbox.patch(id, with: json, query: query, route: route)
            case .update: try await outbox.update(id, with: json, query: query, route: route)
            default: try await outbox.remove(id, query: query, route: route)
            }
        writes.accept(queued.id, of: user, target: method == .create ? nil : target, data, at: place)
        if method == .create, let write = process.write(queued.id) { writes.created(write, at: place, of: user) }
    }

    var entries: [OutboxEntry] { process.outbox.state.entries }

    func foreignChange() {
        // Over REST, nothing tells the app of it.
        guard hasConnection, user != "nobody", let place = pick(lists.map(\.place)) else { return }
        let id = pick(server.records(at: place, of: user))?["id"]
        var method: ServiceMethod = id == nil ? .create : pick([.create, .patch, .patch, .remove]) ?? .patch
        var data = data()
        if method == .patch, Bool.random(using: &random) { data["rank"] = nil }
        let creations = entries.filter { $0.write.method == .create && $0.write.path == place.path }
        if has(.lookAlikes), chance(1, in: 2), let other = pick(creations)?.write.data?.object {
            (method, data) = (.create, other)
            (data["id"], data["ref"]) = (nil, data["ref"].flatMap { writes.id(of: $0, on: server)?.json })
        }
        report.note("\(method) \(place.path) \(id ?? .null) \(JSONValue.object(data))")
        let change = change(method, at: place, method == .create ? nil : id.flatMap { ServiceID($0) }, data, as: user)
        if let change { outgoing.append(change) }
    }

    private func change(
        _ method: ServiceMethod, at place: LocalPlace, _ id: ServiceID?, _ data: JSONObject, as user: String
    ) -> LocalServer.Change? {
        let request = ServiceRequest(
            path: place.path, method: method, id: id, data: .object(data), params: Params(route: place.route))
        return server.execute(request, as: user).change
    }

    private func decide() async throws {
        guard let entry = pick(entries.filter { $0.failure != nil }) else { return }
        try await decide(decision(about: entry), entry)
    }

    func decide(_ decision: OutboxDecision, _ entry: OutboxEntry) async throws {
        report.note("\(entry.write.method) \(entry.write.recordID?.description ?? ""): \(decision)")
        let before = process.writes
        try await process.outbox.decide(decision, for: entry.id)
        switch decision {
        case .discard: break
        case .executed: return writes.ended(entry.id)
        default: return
        }
        // With a creation, what refers to its record is discarded.
        let left = Set(process.writes.map(\.id))
        let discarded = before.filter { !left.contains($0.id) }
        for write in discarded {
            writes.discarded(write.id)
            let text = "\(write.recordID?.description ?? "") \(write.data ?? .null)"
            if write.id != entry.id, !discarded.contains(where: { text.contains($0.provisionalKey()) }) {
                report.violate("with \(entry.write.method) a write was discarded that does not refer to it: \(text)")
            }
        }
    }

    /// What a user decides who has seen what the server has.
    private func decision(about entry: OutboxEntry) -> OutboxDecision {
        let write = entry.write
        var decision = pick([OutboxDecision.discard, .retry, .replace(.object(data()))]) ?? .discard
        if write.method == .remove, case .replace = decision { decision = .retry }
        if entry.failure?.current != nil, write.data != nil, Bool.random(using: &random) { decision = .merge }
        guard write.method == .create, entry.failure?.reason == .unknown else { return decision }
        guard let id = server.created[write.key.text] else { return decision }
        // A repeated creation would make two records.
        return chance(2, in: 3) ? .executed(as: id) : .discard
    }
}
