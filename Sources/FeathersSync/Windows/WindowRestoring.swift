import FeathersCore
import Foundation

/// Lists from disk.
extension Window {
    /// Applies a list from disk. It must still be fetched. What has changed since is placed in it.
    mutating func restored(_ list: RestoredList, _ newer: [Record]) {
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
        if order.isSorted, let sorter = judge.sorter, !ResultOrder(sorter, of: Array(rows)).isSorted {
            rows.removeAll { former.contains($0.key) }
            // A state in doubt is not stored, but its place in the list is.
            rows = rows.inOrder(of: sorter)
        }
        let hasTotal = list.isWhole || head?.isComplete != true
        replaceAll(rows, limit: head?.limit, total: hasTotal ? head?.total : head?.total ?? head?.count)
        for row in present { insert(row) }
        // A count may include them.
        if isCount { return newer.isEmpty ? () : count(0) }
        for state in newer where isStored(state) {
            let isIn = place(state, isFormer: former.contains(state.key), isShaped: head?.isShaped ?? false)
            if list.isWhole, isIn != former.contains(state.key) { count(isIn ? 1 : -1) }
        }
    }

    /// Applies what was reported of a record to a list from disk: its records have the states that all windows share.
    /// Others join with the first page, because it is unknown what hooks leave out of it.
    mutating func reportStored(_ state: Record) {
        if isCount { return }
        guard !state.isRemoved, isShared, table[state.key] != nil else {
            return state.isRemoved ? remove(state.key) : ()
        }
        if !place(state, isFormer: true, isShaped: false) { count(-1) }
    }

    /// Places a record that has changed since the list was stored.
    /// - Parameters:
    ///   - isFormer: Whether the record was in the list.
    ///   - isShaped: Whether the records of the list are shaped, so that the state has more or other properties.
    /// - Returns: Whether the record is in the list now.
    private mutating func place(_ state: Record, isFormer: Bool, isShaped: Bool) -> Bool {
        let old = table[state.key]
        let record = isShaped ? state.value.map { old?.record.applying($0) ?? $0 } : state.value
        guard let record, judge.canJudge ? judge.judges(record) ?? isFormer : isFormer else {
            remove(state.key)
            return false
        }
        if let old, old.record == record {
            if !isShaped { replace(old, with: state) }
            return true
        }
        let row = ResultRow(
            isShaped ? Record(state.key, record) : state, sortValue: judge.sorter?.firstValue { record[$0] },
            place: old?.place ?? (known.last?.place ?? 0) + 1, isWritten: isShaped)
        if let old, order.keepsIndex(old.record, record), let index = order.index(of: old, in: known) {
            known.replace(index, with: row)
            table[state.key] = row
        } else {
            remove(state.key)
            insert(row)
        }
        return true
    }
}
