import FeathersCore
import Foundation

/// What a window shows: its known part with the writes applied that it does not include yet.
extension Window {
    struct Content: Sendable {
        let rows: ResultRows
        /// The number of records in the whole result, writes included; nil if it is not known.
        let total: Int?
        let isTotalEstimated: Bool
    }

    /// What was shown last, so that a change costs in proportion to the records that it concerns.
    struct Shown: Sendable {
        /// A record with writes.
        struct Written: Sendable {
            /// Nil if it is not in the result.
            let row: ResultRow?
            /// Whether the writes hide a known record.
            let isHidden: Bool
            /// Whether it is created behind the known part.
            let isBehind: Bool
        }

        /// All rows, the writes applied.
        fileprivate(set) var rows = ResultRows()
        fileprivate var written: [String: Written] = [:]
        /// The known part, and whether a record behind it would be shown.
        fileprivate var known = ResultRows()
        fileprivate var end = End()
        /// The records whose writes have changed since; nil if any may have.
        fileprivate var changed: Set<String>?
        /// The number of known records that writes hide.
        fileprivate(set) var hiddenCount = 0
        /// The number of records that queued writes create behind the known part.
        fileprivate var behindCount = 0
    }

    /// The end of the known part. Records with writes are not shown behind it.
    fileprivate struct End: Sendable, Equatable {
        var isComplete = false
        var last: Int?
    }

    /// Whether the known part includes what is reported of a record, as soon as that is reported.
    private var takesReports: Bool { time > 0 && isShared && isJudged }

    /// Returns whether the window does not include what a write did or will do.
    func replays(_ write: LocalWrite) -> Bool {
        guard let answered = write.answered else { return true }
        return (write.isDoubtful || !takesReports) && answered >= time
    }

    /// Records that the writes of a record have changed, or what they are applied to.
    /// - Parameter key: The key of the record; nil for all.
    mutating func touch(_ key: String?) {
        // Limits the set, because a window without a reader never empties it.
        if let key, shown.changed?.count ?? 0 < 1000 { shown.changed?.insert(key) } else { shown.changed = nil }
    }

    /// Returns what is shown, and asks for a fetch if that is less than the limit.
    /// - Parameters:
    ///   - writes: The writes of the service, in order.
    ///   - records: What the server last reported of records.
    ///   - lookAlikes: The records that have no row of their own yet, because creations in flight have one.
    mutating func content(
        _ writes: some Sequence<LocalWrite>, _ records: Records, hiding lookAlikes: [String: LookAlike]
    ) -> Content {
        if isCount { return counted(writes, records, hiding: lookAlikes) }
        let (changed, before) = changes()
        var keys = changed.map(Array.init) ?? []
        var parts: [String: [LocalWrite]] = [:]
        let hidden = Set(lookAlikes.keys)
        if changed == nil { keys += hidden }
        for write in writes where replays(write) {
            guard changed?.contains(write.key) ?? true else { continue }
            if changed == nil, parts[write.key] == nil, !hidden.contains(write.key) { keys.append(write.key) }
            parts[write.key, default: []].append(write)
        }
        var next = shown
        if changed == nil { (next.rows, next.written, next.hiddenCount, next.behindCount) = (known, [:], 0, 0) }
        var moved: [ResultRow] = []
        for key in keys {
            let (isLookAlike, writes) = (hidden.contains(key), parts[key] ?? [])
            let base = isLookAlike ? nil : table[key]
            let other = isLookAlike ? nil : outside(key, records)
            let row = writes.isEmpty ? base : row(key, base, other, records.ofWrite(key), writes)
            let old = next.written[key].map(\.row) ?? before[key] ?? table[key]
            if next.written[key]?.isHidden == true { next.hiddenCount -= 1 }
            if next.written[key]?.isBehind == true { next.behindCount -= 1 }
            next.written[key] = nil
            if isLookAlike || !writes.isEmpty {
                let isBehind = row == nil && base == nil && other == nil && creates(writes)
                next.written[key] = Shown.Written(row: row, isHidden: base != nil && row == nil, isBehind: isBehind)
                if isBehind { next.behindCount += 1 }
                if base != nil, row == nil { next.hiddenCount += 1 }
            }
            if old === row { continue }
            if let old, let row, keepsPlace(old, row), let index = order.index(of: old, in: next.rows) {
                next.rows.replace(index, with: row)
                continue
            }
            if let old { remove(old, from: &next.rows) }
            if let row { moved.append(row) }
        }
        for row in moved {
            next.rows.insert(row, at: order.insertionIndex(for: row.record, at: row.place, in: next.rows))
        }
        (next.known, next.end, next.changed) = (known, end, [])
        shown = next
        return content(next.rows, added: next.rows.count - known.count + next.behindCount)
    }

    private var end: End { End(isComplete: isComplete, last: isComplete ? nil : known.last?.version) }

    /// Grows a list around a record to it, because others with its sort value, such as queued ones, may come before it.
    private mutating func reachAnchor(in rows: ResultRows) {
        guard let key = judge.anchor, let row = shown.written[key].map(\.row) ?? table[key],
            row.sortValue == judge.boundary, let index = order.index(of: row, in: rows), index >= limit
        else { return }
        growth += index + 1 - limit
    }

    /// Returns the records that may have changed since the rows were last shown, nil if any may have, and the rows that
    /// those in the known part had, nil if they had none.
    private func changes() -> (changed: Set<String>?, before: [String: ResultRow?]) {
        // In an order that only the server knows, records that change stay where they were.
        guard var changed = shown.changed, isShared, isJudged, !order.isForeign, shown.end == end else {
            return (nil, [:])
        }
        let ranges = known.changes(since: shown.known)
        guard !ranges.isEmpty else { return (changed, [:]) }
        guard ranges.reduce(0, { $0 + $1.old.count + $1.new.count }) < 256 else { return (nil, [:]) }
        var before: [String: ResultRow?] = [:]
        for index in ranges.lazy.flatMap(\.new) { before[known[index].key] = .some(nil) }
        for index in ranges.lazy.flatMap(\.old) { before[shown.known[index].key] = shown.known[index] }
        changed.formUnion(before.keys)
        return (changed, before)
    }

    private mutating func content(_ rows: ResultRows, added: Int) -> Content {
        reachAnchor(in: rows)
        wantFetchIfShort(of: rows.count)
        let total = total.map { max($0.count + added, 0) }
        let isEstimated = self.total.map { $0.isEstimated || added != 0 && !isComplete } ?? false
        return Content(rows: rows.limited(to: limit), total: total, isTotalEstimated: isEstimated)
    }

    /// Returns what the server last reported of a record that is not in the known part, if a write may bring it there.
    /// A record that would be there already is missing for reasons that only the server knows.
    private func outside(_ key: String, _ records: Records) -> JSONValue? {
        guard table[key] == nil, judge.canJudge, isShared, let record = records.ofWrite(key) else { return nil }
        // Write `.none`, because `nil` would become JSON null here.
        return !judge.matches(record) || !isKnown || isBeyond(record) ? record : .none
    }

    /// Returns the row of a record with the writes applied; nil if it is not in the result or behind the known part.
    private func row(
        _ key: String, _ base: ResultRow?, _ outside: JSONValue?, _ known: JSONValue?, _ writes: [LocalWrite]
    ) -> ResultRow? {
        let (record, state, last) = applied(writes, to: base?.record ?? outside, known)
        guard let record, (judge.canJudge ? judge.judges(record) : nil) ?? (base != nil) else { return nil }
        if let base, base.record == record, state == .confirmed { return base }
        let isInPlace = base.map { keepsPlace($0.record, record) } ?? false
        if !isInPlace, isBeyond(record) { return nil }
        let place = isInPlace || !order.isSorted && base != nil ? base?.place ?? 0 : place(of: writes)
        let isProvisional = writes.contains(where: \.hasProvisionalKey)
        if let old = shown.written[key]?.row, old.isWritten, old.writeState == state, old.write == last,
            old.record == record, old.isProvisional == isProvisional
        {
            return old.place == place ? old : old.moved(to: place)
        }
        return ResultRow(
            Record(key, record), sortValue: judge.sorter?.firstValue { record[$0] }, place: place, writeState: state,
            isWritten: true, write: last, isProvisional: isProvisional)
    }

    /// Returns a record with writes applied, nil if it does not exist then, its state, and the last write.
    /// - Parameter known: What the server last reported of the record of a write.
    func applied(_ writes: [LocalWrite], to base: JSONValue?, _ known: JSONValue?) -> (
        record: JSONValue?, state: RecordState, last: UUID?
    ) {
        var record = base
        var state = RecordState.confirmed
        var last: UUID?
        var isRemoved = false
        for write in writes {
            // The server refuses what follows a removal. Without one, an update may be of a record that is not known.
            if write.isEffective, !isRemoved || write.write.method == .create {
                isRemoved = write.write.method == .remove
                let isCertain = write.result != nil && isShared
                // What an answered creation has made may be known from another list.
                let made = write.write.method == .create && write.answered != nil && isShared ? known : nil
                record = isCertain ? write.result : write.apply(to: record ?? made, id: judge.id)
            }
            guard write.answered == nil else { continue }
            last = write.id
            if let failure = write.failure { state = .failed(failure) } else if state == .confirmed { state = .pending }
        }
        return (record, state, last)
    }

    /// Whether queued writes create a record that is in the result.
    private func creates(_ writes: [LocalWrite]) -> Bool {
        guard writes.first?.write.method == .create, writes.allSatisfy({ $0.answered == nil && $0.failure == nil }),
            !writes.contains(where: { $0.write.method == .remove })
        else { return false }
        let record = writes.reduce(JSONValue?.none) { $1.apply(to: $0, id: judge.id) }
        return record.map { judge.judges($0) == true } ?? false
    }

    private func keepsPlace(_ base: JSONValue, _ record: JSONValue) -> Bool {
        !judge.canJudge || order.keepsIndex(base, record)
    }

    private func keepsPlace(_ base: ResultRow, _ row: ResultRow) -> Bool {
        row.place == base.place && keepsPlace(base.record, row.record)
    }

    /// Returns the place of a record that is not in the known part. Without an order, such records come last, in the
    /// order of their writes.
    private func place(of writes: [LocalWrite]) -> Int {
        guard !order.isSorted, let first = writes.first else { return 0 }
        return 1 << 60 + first.number << 16 + (first.index ?? 0)
    }

    private func remove(_ row: ResultRow, from rows: inout ResultRows) {
        if let index = order.index(of: row, in: rows) { rows.remove(at: index) }
    }
}
