import Feathers
import FeathersCore
import FeathersSupport
import Foundation

@testable import FeathersSync
@testable import FeathersTesting

/// A random history of an app that shows its queued writes and keeps its results: what the server does and when the app
/// hears of it is up to the history. After every step, the laws hold; at rest, each live query shows what the server
/// answers.
///
/// Confined to the task that runs it.
final class LocalHistory {
    private static let users = ["alice", "bob"]
    private static let queries: [Query<JSONValue>] = [
        Query(), .sorted(by: "rank"), .where("kind", "a").sorted(by: "rank"), .sorted(by: "rank", .descending).limit(3),
        .where("rank", .greaterThan(2)).sorted(by: "mark"),
    ]

    let report: LocalReport
    private let root: TemporaryFolder
    private let hasConnection: Bool
    private let isKeyed: Bool
    private var random: SeededGenerator
    var server = LocalServer()
    var process: LocalProcess
    let queries: [Query<JSONValue>]
    /// What each live query shows.
    var shown: [LiveSnapshot<JSONValue>?]
    var user = "alice"
    private(set) var isOnline = true
    /// Whether the server can replay what is missed, because this connection has been there before.
    private var canRecover = false
    /// The changes of which the connection will tell.
    private var outgoing: [LocalServer.Change] = []
    /// Whether the server tells the app nothing of its own writes.
    private let isMuted: Bool
    /// The writes that were accepted and have neither been executed nor discarded.
    private var accepted: Set<UUID> = []
    private var lastMark: Int64 = 0

    init(seed: UInt64, hasConnection: Bool, _ report: LocalReport) async throws {
        var random = SeededGenerator(seed: seed)
        let queries = Array(Self.queries.shuffled(using: &random).prefix(2))
        isKeyed = Int.random(in: 0..<4, using: &random) > 0
        server.isKeyed = isKeyed
        isMuted = hasConnection && Int.random(in: 0..<4, using: &random) == 0
        (self.random, self.report, self.hasConnection, self.queries) = (random, report, hasConnection, queries)
        shown = queries.map { _ in nil }
        root = try TemporaryFolder()
        process = try await LocalProcess(
            in: root.url.appending(path: "store", directoryHint: .isDirectory), queries, as: user,
            hasConnection: hasConnection,
            isOnline: true, isKeyed: isKeyed)
        for user in Self.users { for _ in 0..<4 { _ = change(.create, nil, data(), as: user) } }
        report.note(
            "queries \(queries.map(\.json)), \(isKeyed ? "keyed" : "without keys"), \(isMuted ? "muted" : "")")
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
        if report.violations.isEmpty {
            report.begin(.rest)
            try await rest()
        }
        _ = try await process.kill()
    }

    private func take(_ step: LocalStep) async throws {
        switch step {
        case .queue: try await queue()
        case .execute: execute(refusing: false)
        case .refuse: execute(refusing: true)
        case .answer: answer()
        case .hear: hear(Int.random(in: 1...3, using: &random))
        case .foreignChange: foreignChange()
        case .decide: try await decide()
        case .cut: cut()
        case .restore: restore()
        case .retry: process.wakeAll()
        case .keep:
            await process.keep()
        case .kill: try await kill(isOnline: true)
        case .killOffline: try await kill(isOnline: false)
        case .changeUser: changeUser()
        case .rest: try await rest()
        }
    }

    private func pick<Element>(_ elements: [Element]) -> Element? { elements.randomElement(using: &random) }

    // MARK: Writes

    private func data() -> JSONObject {
        lastMark += 1
        return [
            "kind": .string(pick(["a", "b"]) ?? "a"), "rank": .integer(.random(in: 0...5, using: &random)),
            "mark": .integer(lastMark),
        ]
    }

    private func queue() async throws {
        // What no one has queued is sent by the next user, and is for the other histories.
        guard user != "nobody" else { return }
        let outbox = process.records.outbox
        var data = data()
        let isPartial = Bool.random(using: &random)
        // What is on the screen, by the id that is there. Provisional ids are random, so they must not decide the
        // order.
        var seen: Set<String> = []
        let shownIDs = shown.compactMap { $0 }.flatMap(\.records).compactMap {
            $0["id"].flatMap { ServiceID($0) }?.description
        }
        let target = pick(shownIDs.filter { seen.insert($0).inserted })
        let method: ServiceMethod =
            target == nil ? .create : pick([.create, .patch, .patch, .patch, .update, .remove]) ?? .patch
        if method == .patch, isPartial { data["kind"] = nil }
        let id = target.map { id in Int64(id).map { ServiceID($0) } ?? ServiceID(id) } ?? ServiceID("")
        report.note("\(method) \(target ?? "") \(JSONValue.object(data))")
        let queued =
            switch method {
            case .create: try await outbox.create(.object(data))
            case .patch: try await outbox.patch(id, with: .object(data))
            case .update: try await outbox.update(id, with: .object(data))
            default: try await outbox.remove(id)
            }
        accepted.insert(queued.id)
    }

    var entries: [OutboxEntry] { process.outbox.state.entries }

    private func foreignChange() {
        // Over REST, nothing tells the app of it.
        guard hasConnection, user != "nobody" else { return }
        let id = pick(server.ids(of: user))
        let method: ServiceMethod = id == nil ? .create : pick([.create, .patch, .patch, .remove]) ?? .patch
        var data = data()
        if method == .patch, Bool.random(using: &random) { data["rank"] = nil }
        report.note("\(method) \(id ?? 0) \(JSONValue.object(data))")
        let change = change(method, method == .create ? nil : id, data, as: user)
        if let change { outgoing.append(change) }
    }

    private func change(_ method: ServiceMethod, _ id: Int64?, _ data: JSONObject, as user: String) -> LocalServer
        .Change?
    {
        server.execute(
            ServiceRequest(path: LocalServer.path, method: method, id: id.map { .integer($0) }, data: .object(data)),
            as: user
        ).change
    }

    private func decide() async throws {
        guard let entry = pick(entries.filter { $0.failure != nil }) else { return }
        var decision = pick([OutboxDecision.discard, .retry, .replace(.object(data()))]) ?? .discard
        if entry.write.method == .remove, case .replace = decision { decision = .retry }
        if entry.failure?.current != nil, entry.write.data != nil, Bool.random(using: &random) { decision = .merge }
        // Without keys, a repeated creation makes two records, and which of them is shown is not the client's to know.
        if !isKeyed, entry.write.method == .create, entry.failure?.reason == .unknown { decision = .discard }
        report.note(
            "\(entry.write.method) \(entry.write.recordID?.description ?? entry.write.provisionalKey()): \(decision)")
        let before = entries
        try await process.outbox.decide(decision, for: entry.id)
        if case .discard = decision { discarded(entry, before) }
    }

    /// Records that a write was discarded, and with a creation the writes to its record.
    private func discarded(_ entry: OutboxEntry, _ before: [OutboxEntry]) {
        accepted.remove(entry.id)
        guard entry.write.method == .create else { return }
        let left = Set(entries.map(\.id))
        for other in before where other.write.recordID?.description == entry.write.provisionalKey() {
            if !left.contains(other.id) { accepted.remove(other.id) }
        }
    }

    // MARK: The server

    /// Executes a call that has arrived, without answering it.
    private func execute(refusing: Bool) {
        guard let call = pick(process.calls.filter { $0.outcome == nil && (!refusing || $0.key != nil) }) else {
            return
        }
        execute(call, refusing: refusing)
    }

    private func execute(_ call: HeldTransport.Call, refusing: Bool) {
        var refusal: FeathersError?
        if refusing {
            refusal = FeathersError(pick([FeathersError.Code.badRequest, .conflict]) ?? .badRequest, "Refused")
        }
        var outcome = server.execute(call.request, key: call.key, as: call.user, refusal: refusal)
        if call.user == "nobody" {
            outcome = LocalServer.Outcome(
                result: .failure(FeathersError(.notAuthenticated, "Not authenticated")), position: server.position)
        }
        report.note(
            "\(call.request.method) \(call.request.id?.description ?? "") \(outcome.result.map { $0["id"] ?? .null })")
        process.held.state.update { state in
            if let index = state.calls.firstIndex(where: { $0.number == call.number }) {
                state.calls[index].outcome = outcome
            }
        }
        if let change = outcome.change, hasConnection, !isMuted, change.owner == user { outgoing.append(change) }
    }

    private func answer() {
        guard let call = pick(process.calls.filter { $0.outcome != nil }) else { return execute(refusing: false) }
        answer(call)
    }

    private func answer(_ call: HeldTransport.Call) {
        guard let outcome = call.outcome else { return }
        report.note(
            "\(call.request.method) \(call.request.id?.description ?? "") \(outcome.result.map { $0["id"] ?? .null })")
        let write = process.outbox.withState { $0.queue }.inOrder.first { $0.write.key.text == call.key }?.write
        if case .success = outcome.result, let write { accepted.remove(write.id) }
        process.held.answer(call)
    }

    private func hear(_ count: Int) {
        if outgoing.isEmpty { foreignChange() }
        guard isOnline else { return }
        for change in outgoing.prefix(count) {
            report.note("\(change.event.name) \(change.event.data)")
            process.connection?.push(change.event)
        }
        outgoing.removeFirst(min(count, outgoing.count))
    }

    // MARK: Connections, processes and users

    private func cut() {
        guard isOnline else { return }
        (isOnline, canRecover) = (false, true)
        if let connection = process.connection { connection.lose() } else { process.held.cut(isDead: false) }
        // What waits for more events before it fetches fails then too, and what is known is shown.
        process.wakeFetches()
    }

    private func restore() {
        guard !isOnline else { return }
        isOnline = true
        guard let connection = process.connection else {
            process.held.state.update { $0.isReachable = true }
            return process.wakeAll()
        }
        let isRecovered = canRecover && Int.random(in: 0..<4, using: &random) == 0
        report.note(isRecovered ? "recovered" : "")
        if !isRecovered { outgoing = [] }
        connection.restore(recovered: isRecovered)
    }

    private func kill(isOnline: Bool) async throws {
        let disk = try await process.kill()
        let before = accepted
        (self.isOnline, canRecover, outgoing) = (isOnline, false, [])
        process = try await LocalProcess(
            in: disk, queries, as: user == "nobody" ? nil : user, hasConnection: hasConnection,
            isOnline: isOnline,
            isKeyed: isKeyed)
        shown = shown.map { _ in nil }
        let there = Set(process.outbox.withState { $0.queue }.inOrder.map(\.write.id))
        if there != before {
            report.violate(
                "after a kill the outbox holds \(there.count) writes rather than the \(before.count) that were accepted"
            )
        }
        if !process.warnings.withLock(\.isEmpty) {
            report.violate("the store reports \(process.warnings.withLock { $0 })")
        }
    }

    private func changeUser() {
        user = pick((Self.users + ["nobody"]).filter { $0 != user }) ?? "alice"
        report.note(user)
        (canRecover, outgoing) = (false, [])
        let next = user
        process.held.state.update { $0.user = next }
        process.changeUser(to: next == "nobody" ? nil : Identity(next))
    }

    // MARK: Rest

    /// Everything comes to rest: every write is executed or discarded, every event heard, every result fetched.
    private func rest() async throws {
        if user == "nobody" {
            changeUser()
            await look()
        }
        restore()
        for _ in 0..<1000 where report.violations.isEmpty {
            await look()
            let calls = process.calls
            for call in calls { if call.outcome == nil { execute(call, refusing: false) } }
            for call in process.calls {
                answer(call)
                await look()
            }
            hear(outgoing.count)
            for entry in entries where entry.failure != nil {
                // With a creation, others have gone.
                guard process.outbox.state.entries.contains(where: { $0.id == entry.id }) else { continue }
                let before = entries
                try await process.outbox.decide(.discard, for: entry.id)
                discarded(entry, before)
            }
            process.wakeAll()
            await look()
            if process.calls.isEmpty, outgoing.isEmpty, entries.isEmpty, !process.isFetching() { break }
        }
        guard report.violations.isEmpty else { return }
        if !entries.isEmpty { report.violate("at rest \(entries.count) writes are pending") }
        for (query, snapshot) in zip(queries, shown) {
            let expected = try server.find(query, as: user)
            let records = snapshot.map { Array($0.records) } ?? []
            if records != expected { report.violate("at rest \(query.json) shows \(records) rather than \(expected)") }
            if snapshot?.hasPendingWrites != false || snapshot?.source != .server {
                report.violate("at rest \(query.json) shows \(snapshot.map(Array.init) ?? [])")
            }
        }
        if isKeyed, let mark = server.executions.first(where: { $0.value > 1 }) {
            report.violate("the write with the mark \(mark.key) was executed \(mark.value) times")
        }
    }

    // MARK: The laws

    /// Waits until the app has dealt with a step, and compares what it shows with what it must show.
    private func look() async {
        while true {
            if let motion = await process.settle() {
                return report.violate("the app has come to rest too early: \(motion)")
            }
            let gets = process.calls.filter { $0.request.method == .get }
            for call in gets { answerGet(call) }
            if gets.isEmpty { return report.violate(brokenLaws()) }
        }
    }

    private func answerGet(_ call: HeldTransport.Call) {
        var (call, server) = (call, server)
        call.outcome = server.execute(call.request, as: call.user)
        process.held.answer(call)
    }
}
