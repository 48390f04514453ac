import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation

@testable import FeathersSync

/// A random history of groups and single writes to few records, with refusals, decisions, restarts, kills and versions
/// of the app.
///
/// What must have become of it follows from what was queued and how each write is fated, whatever happened in between.
final class GroupHistory {
    /// A queued write, as the oracle knows it.
    private struct Entry {
        let number: Int64
        /// What later writes call the record.
        let record: String
        /// The creations to which it refers.
        var references: Set<Int64>
        let id: UUID
    }

    private struct Creation {
        let number: Int64
        let id: UUID
    }

    /// The process that was killed, as its files were then.
    private final class Grave: Sendable {
        let folder = Locked<OutboxFolder?>(nil)
    }

    private struct Failure: Error {}

    private var random: SeededGenerator
    private let server = HistoryServer()
    private var folder: OutboxFolder
    private var number: Int64
    /// The writes that were queued together, in order.
    private var units: [[Entry]] = []
    /// Those that a killed process was about to queue.
    private var doubtful: [Entry]?
    private var creations: [Creation] = []
    private var discarded: Set<Int64> = []
    private(set) var counts: [String: Int] = [:]
    /// The version of the app, each of which has another name for the service.
    private var version = 1
    private var path: String { "cards\(version)" }

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        number = Int64(seed) * 1000
        folder = try OutboxFolder()
    }

    private func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &random) < probability }
    private func count(_ name: String, _ value: Int = 1) { counts[name, default: 0] += value }

    /// - Returns: What is wrong.
    func run() async throws -> [String] {
        for _ in 0..<Int.random(in: 2..<5, using: &random) {
            let isRunning = chance(0.7)
            let isKilled = chance(0.5)
            try await process(isRunning: isRunning, isKilled: isKilled)
        }
        let left = try await finish()
        return server.withState(\.violations) + (left.isEmpty ? [] : ["left: \(left)"]) + violations
    }

    // MARK: - Processes

    private func open() async throws -> (app: FeathersApp, outbox: Outbox) {
        server.withState { $0.isDown = false }
        if chance(0.3) { version += 1 }
        let outbox = try await Outbox(file: folder.file) { options in
            options.isKeyed = true
            options.squashesPatches = false
            options.retry = OutboxRetry(initialDelay: .zero, maximumDelay: .zero)
            options.migrate = { [path] in $0.path = path }
            options.decide = { HistoryServer.decision(about: $0.write, isLate: false) }
        }
        let app = FeathersApp(transport: StubTransport { [server] in try server.answer($0) })
        try app.use(outbox: outbox)
        let pending = Set(outbox.state.entries.map(\.id))
        creations.removeAll { !pending.contains($0.id) }
        if let entries = doubtful {
            doubtful = nil
            let attempts = server.withState(\.attempts)
            // A part of it must be all of it: the rest is expected to be executed.
            if entries.contains(where: { pending.contains($0.id) || attempts[$0.number] != nil }) { accept(entries) }
        }
        return (app, outbox)
    }

    private func process(isRunning: Bool, isKilled: Bool) async throws {
        let (app, outbox) = try await open()
        let grave = Grave()
        if isKilled {
            let left = Locked(Int.random(in: 1..<60, using: &random))
            await outbox.journal.onStatement { [folder, server] in
                guard
                    left.withLock({
                        $0 -= 1; return $0 == 0
                    })
                else { return }
                server.withState { state in
                    state.isDown = true
                    grave.folder.withLock { $0 = try? folder.copy() }
                }
            }
        }
        let steps = Int.random(in: 3..<12, using: &random)
        if isRunning {
            try await withFeathersApp(app) { _ in
                for _ in 0..<steps { try await step(app, outbox, grave, isRunning: true) }
                guard chance(0.3) else { return }
                for await _ in outbox.stateUpdates() {
                    if grave.folder.withLock({ $0 != nil }) || outbox.withState(\.queue.isAtRest) { break }
                }
            }
        } else {
            for _ in 0..<steps {
                if !isKilled, chance(0.15) {
                    await discard(in: outbox)
                } else {
                    try await step(app, outbox, grave, isRunning: false)
                }
            }
        }
        await outbox.close()
        if let copy = grave.folder.withLock({ $0 }) {
            folder = copy
            count("kills")
        }
    }

    /// Sends everything, and decides what is left to decide.
    /// - Returns: The writes that cannot be ended.
    private func finish() async throws -> [OutboxEntry] {
        let (app, outbox) = try await open()
        var left: [OutboxEntry] = []
        try await withFeathersApp(app) { _ in
            for _ in 0..<100 {
                left = try await outbox.flush(within: .seconds(300))
                if left.isEmpty { break }
                for entry in left where entry.status == .awaitingDecision {
                    guard let decision = HistoryServer.decision(about: entry.write, isLate: true) else { continue }
                    try? await outbox.decide(decision, for: entry.id)
                }
            }
        }
        await outbox.close()
        return left
    }

    // MARK: - Steps

    private func step(_ app: FeathersApp, _ outbox: Outbox, _ grave: Grave, isRunning: Bool) async throws {
        // A dead process does nothing.
        guard grave.folder.withLock({ $0 == nil }) else { return }
        let size = chance(0.4) ? 1 : Int.random(in: 0..<5, using: &random)
        var entries: [Entry] = []
        var made: [Creation] = []
        let fails = size > 1 && chance(0.1)
        do {
            if size == 1 {
                try await write(app, outbox, &entries, &made, isRunning)
            } else {
                try await outbox.group {
                    for _ in 0..<size { try await write(app, outbox, &entries, &made, isRunning) }
                    if fails { throw Failure() }
                }
                count("groups")
            }
        } catch is Failure {
            return count("failed groups")
        }
        if grave.folder.withLock({ $0 == nil }) {
            accept(entries)
            creations += made
        } else {
            doubtful = entries
        }
    }

    private func accept(_ entries: [Entry]) {
        units.append(entries)
        count("writes", entries.count)
    }

    private func write(
        _ app: FeathersApp, _ outbox: Outbox, _ entries: inout [Entry], _ made: inout [Creation], _ isRunning: Bool
    ) async throws {
        number += 1
        var data: JSONValue = ["n": .integer(number)]
        let candidates = referable(in: outbox, with: entries, made, isRunning)
        var references: Set<Int64> = []
        if chance(0.4), let creation = candidates.randomElement(using: &random) {
            let forms = JSONValue.provisionalForms(of: creation.id.text)
            data = data.setting("ref", to: chance(0.5) ? forms[0] : forms[1])
            references.insert(creation.number)
        }
        let cards = app.service(path)
        let queued: QueuedWrite<JSONValue>
        let record: String
        if chance(0.4) {
            queued = try await cards.outbox.create(data)
            record = "new \(number)"
            made.append(Creation(number: number, id: queued.id))
        } else if chance(0.5), let creation = candidates.randomElement(using: &random) {
            queued = try await cards.outbox.patch(creation.id.text, with: data)
            record = "new \(creation.number)"
            references.insert(creation.number)
        } else {
            let id = Int64.random(in: 1...3, using: &random)
            queued = try await cards.outbox.patch(id, with: data)
            record = "\(id)"
        }
        entries.append(Entry(number: number, record: record, references: references, id: queued.id))
    }

    /// The creations to which a new write may refer. A running app may discard one at any moment; then, screens no
    /// longer show it.
    private func referable(
        in outbox: Outbox, with entries: [Entry], _ made: [Creation], _ isRunning: Bool
    ) -> [Creation] {
        let doomed = doomed(units + [entries])
        let pending = Set(outbox.state.entries.map(\.id))
        return creations.filter { isRunning ? !doomed.contains($0.number) : pending.contains($0.id) }
            + made.filter { !isRunning || !doomed.contains($0.number) }
    }

    private func discard(in outbox: Outbox) async {
        let executed = Set(server.withState(\.executed))
        let entries = outbox.state.entries.filter { !executed.contains($0.write.data?["n"]?.integer ?? 0) }
        guard let entry = entries.randomElement(using: &random), let number = entry.write.data?["n"]?.integer,
            (try? await outbox.decide(.discard, for: entry.id)) != nil
        else { return }
        discarded.insert(number)
        count("discarded by hand")
    }

    // MARK: - Oracle

    /// The writes that can never be executed: those that are discarded, those after them in their groups, and those
    /// that refer to records that therefore do not exist.
    private func doomed(_ units: [[Entry]]) -> Set<Int64> {
        var doomed: Set<Int64> = []
        // Writes refer to earlier ones.
        for unit in units {
            for (index, entry) in unit.enumerated() {
                let isDiscarded = discarded.contains(entry.number) || HistoryServer.fate(of: entry.number) == .discarded
                if isDiscarded || index > 0 && doomed.contains(unit[index - 1].number)
                    || !entry.references.isDisjoint(with: doomed)
                {
                    doomed.insert(entry.number)
                }
            }
        }
        return doomed
    }

    private var violations: [String] {
        let executed = server.withState(\.executed)
        let positions = Dictionary(executed.enumerated().map { ($1, $0) }) { first, _ in first }
        let all = units.joined()
        let expected = Set(all.map(\.number)).subtracting(doomed(units))
        count("executed", executed.count)
        var violations: [String] = []
        if positions.count != executed.count { violations.append("executed twice: \(executed)") }
        if expected != Set(executed) {
            let (missing, extra) = (expected.subtracting(executed), Set(executed).subtracting(expected))
            violations.append("not executed: \(missing.sorted()), executed in vain: \(extra.sorted())")
        }
        let records = Dictionary(grouping: all, by: \.record).values.map { $0.map(\.number).sorted() }
        for order in units.map({ $0.map(\.number) }) + records {
            let found = order.compactMap { positions[$0] }
            if found != found.sorted() { violations.append("out of order: \(order), executed at \(found)") }
        }
        return violations
    }
}

extension JournalWriter {
    /// Calls a function after each statement, on the thread of the disk.
    fileprivate func onStatement(_ body: @escaping @Sendable () -> Void) { journal?.database.onStatement = body }
}
