// Locks: Values without a lock.

import FeathersCore
import FeathersSupport
import Foundation

/// Stored records by their keys, whatever lists have them.
struct RecordsByKey: Sendable {
    /// The records, and those that are stored as removed.
    let records: [StoredRecord]
    /// When the newest list that has a record was up to date.
    private(set) var dates: [String: Date] = [:]
    /// The pending writes; nil if an outbox of this process has them.
    private(set) var writes: [StoredWrite]?

    /// - Parameters:
    ///   - withDates: Whether to look for the records in the lists of the service.
    ///   - withWrites: Whether to read the pending writes.
    init(
        _ keys: Set<String>, of key: ServiceKey, withDates: Bool, withWrites: Bool, in database: Database
    ) throws {
        if withWrites { writes = try JournalTables.writes(in: database, at: key.path) }
        guard let service = try RecordTables.service(key, in: database) else {
            records = []
            return
        }
        records = try keys.compactMap { try RecordTables.record($0, of: service, in: database) }
        guard withDates else { return }
        var undated = Set(records.lazy.filter { $0.json != nil }.map(\.key))
        for list in try ListTables.sharedLists(of: service, in: database) where !undated.isEmpty {
            var place = 0
            // The rest of a damaged list does not count.
            while !undated.isEmpty,
                let chunk = try? ListTables.chunks(of: list.number, after: place, keys: 1, in: database).first
            {
                for key in chunk.keys where undated.remove(key) != nil { dates[key] = list.date }
                place = chunk.place
            }
        }
        for record in records where record.json != nil {
            guard let date = try ReplicaTables.date(of: record.number, in: database) else { continue }
            dates[record.key] = max(dates[record.key] ?? .distantPast, date)
        }
    }
}

extension ListTables {
    /// The lists of a service that share its records, the newest first.
    fileprivate static func sharedLists(of service: Int, in database: Database) throws -> [(number: Int, date: Date)] {
        let sql = "SELECT number, date FROM lists WHERE service = ? AND is_shaped = 0 ORDER BY date DESC"
        return try database.rows(sql, SQLiteValue(service)) { row in
            (try row.requiredNumber(0, atMost: largestList), try row.date(1) ?? .distantPast)
        }
    }
}

extension LiveSource {
    /// Puts the stored records of the keys that a window lacks into it, whatever lists have them. They must still be
    /// fetched.
    /// - Parameter withDates: Whether to find out how old the records are.
    /// - Returns: What is stored; nil if nothing is.
    @discardableResult
    func restoreRecords(
        into window: LiveWindow, _ lists: StoredLists, withDates: Bool = false
    ) async throws -> RecordsByKey? {
        let wanted = window.withState { store, _ in
            store.windows[window.id].map { (judge: $0.judge, keys: $0.missing.union($0.judge.keys?.unsent ?? [])) }
        }
        guard let (judge, keys) = wanted, !keys.isEmpty, let key = listKey(for: window.sender.identity)?.service else {
            return nil
        }
        let isReader = lists.store.isReadOnly
        let stored = try await lists.database.read { database in
            try RecordsByKey(keys, of: key, withDates: withDates, withWrites: isReader, in: database)
        }
        guard let stored else { return nil }
        var rows: [ResultRow] = []
        for record in stored.records where record.json != nil {
            do { rows += try judge.storedRows(of: [record][...], from: rows.count) } catch {
                service.app.diagnostics.log(
                    .warning, .localStore,
                    "The stored record '\(record.key)' of service '\(service.path)' cannot be used and is ignored: \(error)",
                    [.path: .string(service.path)], error: error)
            }
        }
        window.withState { [rows] store, _ in
            if let writes = stored.writes { store.replaceQueue(writes, of: key.identity, in: window.store) }
            guard window.sender.isCurrent, let state = store.windows[window.id], !state.hooks.changeResults else {
                return
            }
            // The server may have created the record of a queued creation.
            for row in rows where !state.missing.contains(row.key) && store.known(row.key) == nil {
                store.keep(row.state)
            }
            // What this process knows of others may not be stored yet.
            let others = keys.subtracting(stored.records.map(\.key)).compactMap { key in
                store.known(key) == nil ? nil : store.records[key].map { state.row($0) }
            }
            var rows = (rows + others).filter {
                state.missing.contains($0.key) && state.judge.judges($0.record) == true
            }
            if let sorter = judge.sorter {
                rows.sort { left, right in
                    sorter.order(of: left.sortValue, { left.record[$0] }, and: right.sortValue) { right.record[$0] } < 0
                }
            }
            store.restored(RestoredList(head: nil, rows: ResultRows(rows), isWhole: true, newer: []), in: window.id)
            // The records do not say how old the others are.
            _ = store.change(window.id) { $0.source = state.source }
        }
        return stored
    }
}
