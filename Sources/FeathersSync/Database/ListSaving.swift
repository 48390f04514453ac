// Locks: Runs on the database's thread. `ListSlot.saved` guards what is known of the list there.

import FeathersCore
import FeathersSupport

/// Stores a changed list: first its records that have changed, then its keys.
struct ListSaving: Sendable {
    /// The number of records that are stored in one step, so that queued writes do not wait for a long list. Each
    /// record is true by itself, so other changes may come between the steps.
    private static let batch = 1000

    let lists: StoredLists
    let slot: ListSlot
    let change: ListChange

    /// A list whose records are being stored.
    private struct Begun: Sendable {
        let state: ListState
        let changes: SavedList.Changes
        /// The list as it is in the database.
        let saved: SavedList
        /// The number of the service, and of the one that has the records.
        let (service, owner): (Int, Int)
        /// The number of the states that are stored.
        let change: Int
        let removals: Int
        /// The number of the last change that the list includes once it is stored.
        var listChange: Int { state.change == change - 1 ? change : state.change }
    }

    /// - Returns: The number of keys that have left the list; nil if nothing was stored.
    func save() async throws -> Int? {
        guard !slot.isTooLarge.withLock({ $0 }) else { return nil }
        if case .window(let window) = change { try await lists.saveReports(of: window.store) }
        // Taken and stored in one step, so that no write ends meanwhile.
        let begun = try await lists.database.write { database -> Begun? in
            guard let begun = try begin(in: database) else { return nil }
            guard begun.changes.records.count <= Self.batch else { return begun }
            try check(put(begun.changes.records[...], of: begun, in: database))
            try end(begun, in: database)
            return begun
        }
        guard let begun else { return nil }
        let count = begun.changes.records.count
        guard count > Self.batch else { return begun.changes.lostCount }
        do { try await putAll(begun) } catch {
            if error is ListTooLarge { try await removeRecords(of: begun) }
            throw error
        }
        try await lists.database.write { database in try end(begun, in: database) }
        return begun.changes.lostCount
    }

    private func putAll(_ begun: Begun) async throws {
        var size = 0
        let count = begun.changes.records.count
        for start in stride(from: 0, to: count, by: Self.batch) {
            size += try await lists.database.write { database in
                guard lists.removals == begun.removals else { return 0 }
                return try put(begun.changes.records[start...].prefix(Self.batch), of: begun, in: database)
            }
            try check(size)
        }
    }

    /// Removes the records that were stored for a list that has no room.
    private func removeRecords(of begun: Begun) async throws {
        try await lists.database.write { database in
            try LocalRoom.removeUnused(of: begun.owner, changes: begun.change...begun.change, in: database)
        }
    }

    private func begin(in database: Database) throws -> Begun? {
        let last = try RecordTables.lastChange(in: database)
        guard let state = change.state(at: last) else { return nil }
        let service = try RecordTables.addedService(slot.key.service, in: database)
        var saved = try slot.saved.withLock(\.self).flatMap { saved -> SavedList? in
            let exists = try ListTables.exists(saved.number, slot.key.text, of: service, in: database)
            return exists && saved.isShaped == state.isShaped ? saved : nil
        }
        if saved == nil {
            // A damaged one is replaced as well.
            let old = try? ListTables.head(slot.key.text, of: service, in: database)
            let number = try old?.number ?? ListTables.nextNumber(in: database)
            try ListTables.removeChunks(of: number, in: database)
            saved = SavedList(number: number, isShaped: state.isShaped)
        }
        guard let saved else { return nil }
        let owner =
            state.isShaped
            ? try RecordTables.addedService(of: saved.number, at: service, in: database) : service
        try RecordTables.changed(service, last + 1, in: database)
        return Begun(
            state: state, changes: saved.changes(to: state.rows), saved: saved, service: service, owner: owner,
            change: last + 1, removals: lists.removals)
    }

    /// Stores records of the list, except those of which the database knows more.
    /// - Returns: The size of the records in bytes.
    private func put(_ rows: ArraySlice<ResultRow>, of begun: Begun, in database: Database) throws -> Int {
        var (size, growth) = (0, 0)
        for row in rows where !begun.state.lacking.contains(row.key) {
            let json = try row.record.serialized()
            size += json.count
            growth += try RecordTables.put(
                row.key, json, begun.change, after: begun.state.taken, in: begun.owner, database)
        }
        try RecordTables.grew(begun.owner, by: growth, in: database)
        return size
    }

    private func check(_ size: Int) throws {
        guard size > lists.store.maximumSize else { return }
        slot.isTooLarge.withLock { $0 = true }
        throw ListTooLarge.size(lists.store.maximumSize)
    }

    /// Stores the keys of the list, whose records are stored.
    private func end(_ begun: Begun, in database: Database) throws {
        // The user may have left, or the records may have been removed.
        guard change.isCurrent, lists.removals == begun.removals else { return }
        var saved = begun.saved
        try ListTables.write(begun.changes, to: begun.state.rows, of: saved.number, in: database)
        try ListTables.write(
            begun.state, begun.listChange, of: saved.number, slot.key.text, at: begun.service, in: database)
        (saved.rows, saved.chunks) = (begun.state.rows, begun.changes.chunks)
        slot.saved.withLock { [saved] in $0 = saved }
    }
}

enum ListTooLarge: Error, CustomStringConvertible {
    case size(Int)

    var description: String {
        switch self {
        case .size(let size): "it is larger than the store's limit of \(size) bytes"
        }
    }
}
