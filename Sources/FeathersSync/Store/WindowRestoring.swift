import FeathersCore
import Foundation

/// Lists from disk.
extension Window {
    /// Applies a list from disk. It must still be fetched. What has changed since is placed in it.
    mutating func restored(_ list: RestoredList, _ newer: [Report]) {
        let head = list.head
        isComplete = head.map { $0.isComplete && list.isWhole } ?? true
        source = .stored(since: head?.date ?? .distantPast)
        order = ResultOrder(judge.sorter, isSorted: head?.isSorted ?? true)
        growth = max(growth, head?.growth ?? 0)
        setHooks(HookEffects(changeResults: head?.isShaped ?? false))
        let present = judge.keys == nil ? ResultRows() : known
        var rows = missed(list.rows)
        let changed = Set(newer.map(\.key))
        let former = Set(changed.isEmpty ? [] : rows.lazy.map(\.key).filter(changed.contains))
        // Rows have their present states, in the places of former ones.
        if !former.isEmpty, order.isSorted, !ResultOrder(judge.sorter, of: Array(rows)).isSorted {
            rows.removeAll { former.contains($0.key) }
        }
        let hasTotal = list.isWhole || head?.isComplete != true
        replaceAll(rows, limit: head?.limit, total: hasTotal ? head?.total : head?.total ?? head?.count)
        for row in present { insert(row) }
        for report in newer where isStored(report) {
            let isIn = place(report, isFormer: former.contains(report.key), isShaped: head?.isShaped ?? false)
            if list.isWhole, isIn != former.contains(report.key) { count(isIn ? 1 : -1) }
        }
    }

    /// Applies what was reported of a record to a list from disk: its records have the states that all windows share.
    /// Others join with the first page, because it is unknown what hooks leave out of it.
    mutating func reportStored(_ key: String, _ record: JSONValue?) {
        guard let record, isShared, table[key] != nil else { return record == nil ? remove(key) : () }
        let report = Report(name: .patched, key: key, data: record)
        if !place(report, isFormer: true, isShaped: false) { count(-1) }
    }

    /// Places a record that has changed since the list was stored.
    /// - Parameters:
    ///   - isFormer: Whether the record was in the list.
    ///   - isShaped: Whether the records of the list are shaped, so that the report has more or other properties.
    /// - Returns: Whether the record is in the list now.
    private mutating func place(_ report: Report, isFormer: Bool, isShaped: Bool) -> Bool {
        let old = table[report.key]
        let record = isShaped ? report.record.map { old?.record.merging($0) ?? $0 } : report.record
        guard let record, judge.canJudge ? judge.judges(record) ?? isFormer : isFormer else {
            remove(report.key)
            return false
        }
        if let old, old.record == record { return true }
        let row = ResultRow(
            key: report.key, record: record, sortValue: judge.sorter?.firstValue { record[$0] },
            place: old?.place ?? (known.last?.place ?? 0) + 1, isWritten: isShaped)
        if let old, order.keepsIndex(old.record, record), let index = order.index(of: old, in: known) {
            known.replace(index, with: row)
            table[report.key] = row
        } else {
            remove(report.key)
            insert(row)
        }
        return true
    }
}
