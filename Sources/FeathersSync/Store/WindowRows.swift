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

    /// Whether the known part includes what is reported of a record, as soon as that is reported.
    private var takesReports: Bool { time > 0 && isShared && isJudged }

    /// Returns whether the window does not include what a write did or will do.
    func replays(_ write: LocalWrite) -> Bool {
        guard let answered = write.answered else { return showsWrites }
        return (write.isDoubtful || !takesReports) && answered >= time
    }

    /// Returns what is shown, and asks for a fetch if that is less than the limit.
    /// - Parameters:
    ///   - writes: The writes of the service, in order.
    ///   - records: What the server last reported of the records of writes.
    mutating func content(_ writes: [LocalWrite], _ records: [String: JSONValue]) -> Content {
        let writes = writes.filter(replays)
        guard !writes.isEmpty else {
            (hiddenCount, written) = (0, [:])
            return content(known, added: 0)
        }
        // Each of these has a row already, by its provisional id.
        let twins = Set(writes.compactMap { $0.isInFlight && $0.answered == nil ? $0.lookAlike : nil })
        var keys: [String] = []
        var parts: [String: [LocalWrite]] = [:]
        for write in writes {
            if parts[write.key] == nil { keys.append(write.key) }
            parts[write.key, default: []].append(write)
        }
        var rows = known
        for key in twins { if let row = table[key] { remove(row, from: &rows) } }
        var (shown, moved): ([String: ResultRow], [ResultRow]) = ([:], [])
        hiddenCount = 0
        for key in keys {
            let base = twins.contains(key) ? nil : table[key]
            let other = twins.contains(key) ? nil : outside(key, records)
            let row = row(key, base, other, parts[key] ?? [])
            shown[key] = row
            guard let base else {
                if let row { moved.append(row) }
                continue
            }
            if row == nil { hiddenCount += 1 }
            if let row, keepsPlace(base, row), let index = order.index(of: base, in: rows) {
                rows.replace(index, with: row)
            } else {
                remove(base, from: &rows)
                if let row { moved.append(row) }
            }
        }
        for row in moved { rows.insert(row, at: order.insertionIndex(for: row.record, at: row.place, in: rows)) }
        written = shown
        return content(rows, added: rows.count - known.count)
    }

    private mutating func content(_ rows: ResultRows, added: Int) -> Content {
        wantFetchIfShort(of: rows.count)
        let total = total.map { max($0.count + added, 0) }
        let isEstimated = self.total.map { $0.isEstimated || added != 0 && !isComplete } ?? false
        return Content(rows: rows.limited(to: limit), total: total, isTotalEstimated: isEstimated)
    }

    /// Returns what the server last reported of a record that is not in the known part, if a write may bring it there.
    /// A record that would be there already is missing for reasons that only the server knows.
    private func outside(_ key: String, _ records: [String: JSONValue]) -> JSONValue? {
        guard table[key] == nil, judge.canJudge, isShared, let record = records[key] else { return nil }
        // A `nil` beside a JSON value is JSON's null.
        return !judge.matches(record) || !isKnown || isBeyond(record) ? record : .none
    }

    /// Returns the row of a record with the writes applied; nil if it is not in the result or behind the known part.
    private func row(_ key: String, _ base: ResultRow?, _ outside: JSONValue?, _ writes: [LocalWrite]) -> ResultRow? {
        var record = base?.record ?? outside
        var state = RecordState.confirmed
        var last: UUID?
        for write in writes {
            if write.isEffective {
                let isCertain = write.result != nil && isShared
                record = isCertain ? write.result : write.apply(to: record, id: judge.id)
            }
            guard write.answered == nil else { continue }
            last = write.id
            if let failure = write.failure { state = .failed(failure) } else if state == .confirmed { state = .pending }
        }
        guard let record, (judge.canJudge ? judge.judges(record) : nil) ?? (base != nil) else { return nil }
        if let base, base.record == record, state == .confirmed { return base }
        let isInPlace = base.map { keepsPlace($0.record, record) } ?? false
        if !isInPlace, isBeyond(record) { return nil }
        let place = isInPlace || !order.isSorted && base != nil ? base?.place ?? 0 : place(of: writes)
        if let old = written[key], old.state == state, old.write == last, old.record == record {
            return old.place == place ? old : old.moved(to: place)
        }
        return ResultRow(
            key: key, record: record, sortValue: judge.sorter?.firstValue { record[$0] }, place: place, state: state,
            isWritten: true, write: last)
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
