import FeathersCore
import Foundation

@testable import FeathersSync

/// A value of this app's that is shown goes back only if the write was refused or given up: neither an answer, nor an
/// event, nor a fetch, nor a restart shows an older state of the record.
///
/// Every write has a mark of its own, so that a row says whose value it shows.
struct MonotonicLaw {
    /// The marks of this app's writes, and the writes that carry them.
    private var own: [Int64: OutboxWrite.ID] = [:]
    private var dropped: Set<OutboxWrite.ID> = []
    /// The provisional ids of writes by the keys that they have been given since.
    private var writes: [String: String] = [:]
    private var ids: [String: String] = [:]
    /// The records of this app's whose creation was answered after their user had left, so that the answer is not on
    /// the disk.
    private var perhapsUnstored: Set<String> = []
    /// The removals of this app.
    private var removals: [OutboxWrite.ID: String] = [:]
    /// The last mark shown of each row that shows a write of this app's.
    private var shown: [String: Int64] = [:]
    /// The rows whose creation was refused or given up, with all later writes to them.
    private var droppedRows: Set<String> = []
    /// The rows of which an update was refused or given up. If the record is not known otherwise, later patches of it
    /// cannot be shown.
    private var perhapsUnknown: Set<String> = []
    /// The records that this app has changed, or shows, under two ids, because it could not recognize what it had
    /// created. Of such writes, which are in two lanes, the one that is executed last counts.
    private var changedTwice: Set<String> = []
    /// The rows that were shown before a restart, and not since. Records outside of a result are not on the disk.
    private var perhapsForgotten: Set<String> = []

    mutating func queued(_ mark: Int64, in write: OutboxWrite, _ method: ServiceMethod) {
        if method == .remove {
            removals[write.id] = write.recordID?.description ?? ""
            return
        }
        // A patch may be part of an earlier write now, whose mark is gone with its value.
        own = own.filter { $0.value != write.id }
        own[mark] = write.id
    }

    /// Records that a write was refused, given up, or replaced.
    mutating func dropped(_ write: OutboxWrite) {
        dropped.insert(write.id)
        removals[write.id] = nil
        if write.method == .create { droppedRows.insert(write.provisionalKey()) }
        if write.method == .update { perhapsUnknown.insert(write.recordID?.description ?? "") }
    }

    /// Forgets what was shown. The removals that are queued stay so until their user returns.
    mutating func userChanged() {
        let (removals, writes, perhapsUnstored) = (removals, writes, perhapsUnstored)
        self = MonotonicLaw()
        (self.removals, self.writes, self.perhapsUnstored) = (removals, writes, perhapsUnstored)
    }

    /// Records the answer to a write whose user has left.
    mutating func answeredLate(_ id: Int64) { perhapsUnstored.insert("\(id)") }

    /// Records that a write which was refused is sent again.
    mutating func retried(_ write: OutboxWrite) {
        if write.method == .remove { removals[write.id] = write.recordID?.description ?? "" }
    }

    /// Records that the server has told of a whole result.
    mutating func fetched(_ result: JSONValue) {
        let known = Set((result.array ?? []).compactMap { $0["id"].flatMap { ServiceID($0) }?.description })
        perhapsUnknown = perhapsUnknown.filter { !known.contains(ids[$0] ?? $0) }
    }

    /// Records a restart. Of a record that other apps have made, the app knows no more than what was kept, and a
    /// pending patch of it cannot be shown without it.
    /// - Parameter isKept: Whether the disk has something of a record.
    mutating func restarted(_ isKept: (Int64) -> Bool) {
        let made = Set(ids.values).subtracting(perhapsUnstored)
        perhapsForgotten.formUnion(shown.keys)
        shown = shown.filter { made.contains($0.key) || (Int64($0.key).map(isKept) ?? true) }
    }

    /// Returns how a snapshot breaks the law.
    /// - Parameters:
    ///   - oracle: What is known of the query.
    ///   - entries: The writes that the outbox holds.
    ///   - loose: The keys of records that the client cannot recognize as those it creates.
    mutating func check(
        _ snapshot: LiveSnapshot<JSONValue>, _ server: LocalServer, _ oracle: LocalOracle, _ entries: [OutboxEntry],
        loose: Set<String>
    ) -> [String] {
        let visible = Set(snapshot.records.compactMap { $0["id"]?.string })
        noteIDs(server, entries, visible)
        let loose = loose.union(changedTwice)
        let gone = Set(droppedRows.map { ids[$0] ?? $0 })
        let unknown = Set(perhapsUnknown.map { ids[$0] ?? $0 })
        var violations: [String] = []
        var rows: [String: Int64] = [:]
        for record in snapshot.records {
            let key = record["id"].flatMap { ServiceID($0) }?.description ?? ""
            rows[ids[key] ?? key] = record["mark"]?.integer
        }
        for (key, last) in shown {
            let name = ids[key] ?? key
            guard !loose.contains(name), let write = own[last], !dropped.contains(write), !gone.contains(name) else {
                continue
            }
            let before = server.taken[last] ?? .max
            if let mark = rows[name] {
                // A pending write comes after everything that the server has taken.
                if mark != last, server.taken[mark] ?? .max < before {
                    violations.append("\(name) goes back from \(last) to \(mark)")
                }
            } else if snapshot.source != .kept(since: .distantPast), !unknown.contains(name), !isRemoved(name, server),
                oracle.isWhole || !perhapsForgotten.contains(key) && belongs(name, by: write, oracle, server, entries)
            {
                violations.append("\(name), which showed \(last), is gone")
            }
        }
        perhapsForgotten.subtract(rows.keys)
        shown = rows.filter { own[$0.value] != nil && !loose.contains($0.key) }
        return violations
    }

    /// Records the ids that the server has given to records, and which records are changed under two, also while
    /// nothing is shown.
    /// - Parameter visible: The ids in what is shown.
    mutating func noteIDs(_ server: LocalServer, _ entries: [OutboxEntry], _ visible: Set<String> = []) {
        for entry in entries where entry.write.method == .create {
            writes[entry.write.key.text] = entry.write.provisionalKey()
        }
        for (key, id) in server.made { ids[writes[key] ?? key] = "\(id)" }
        let queued = Set(entries.compactMap { $0.write.recordID?.description })
        changedTwice.formUnion(
            ids.filter { (queued.contains($0.key) || visible.contains($0.key)) && queued.contains($0.value) }.values)
    }

    /// Whether the last pending write to a record decides alone that it is in the result, which only writes of this
    /// app's have left.
    private func belongs(
        _ name: String, by write: OutboxWrite.ID, _ oracle: LocalOracle, _ server: LocalServer, _ entries: [OutboxEntry]
    ) -> Bool {
        let last = entries.last { entry in
            let key =
                entry.write.method == .create ? entry.write.provisionalKey() : entry.write.recordID?.description ?? ""
            return ids[key] ?? key == name
        }
        guard !oracle.isLimited, let last, last.id == write, last.failure == nil else { return false }
        let pending = last.write
        // What a write did that was given up, the app does not know.
        let others = (Int64(name).flatMap { server.versions[$0] } ?? []).filter { version in
            own[version.record?["mark"]?.integer ?? 0].map(dropped.contains) ?? true
        }
        return ([pending.data] + others.map { $0.record.map { .object($0) } }).allSatisfy {
            $0.map(oracle.matcher.matches) ?? false
        }
    }

    /// Whether this app or another one has removed a record.
    private func isRemoved(_ name: String, _ server: LocalServer) -> Bool {
        if removals.contains(where: { name == ids[$0.value] ?? $0.value }) { return true }
        guard let id = Int64(name) else { return false }
        return server.versions[id]?.contains { $0.record == nil } ?? false
    }
}
