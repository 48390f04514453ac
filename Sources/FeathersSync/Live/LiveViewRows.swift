import FeathersCore

/// The rows of a live query: the base's rows, except for the records that pending writes concern.
extension LiveView {
    /// The rows to show, in order.
    var visible: LiveRows {
        guard isKnown || showsWithoutBase else { return LiveRows() }
        return (rows ?? base.entries).limited(to: base.limit)
    }

    /// Whether anything can be shown.
    var hasContent: Bool { isKnown || showsWithoutBase && (hasExecuted || rows != nil) && !visible.isEmpty }

    /// Returns the server's record with a key; nil if it is not known.
    func known(_ key: String) -> JSONValue? { isKnown ? base[key]?.record : nil }

    /// The number of records of the base that pending writes hide.
    var hiddenCount: Int { shadows.count { $0.value.row == nil && base[$0.key] != nil } }

    /// The number of records in the whole result, pending writes included; nil if it is not known.
    var total: Int? {
        guard isKnown, let total = base.total else { return nil }
        return shadows.values.reduce(total) { $0 + $1.added }
    }

    /// Returns a record with the pending writes applied, and its state; nil if no pending write concerns it.
    private func overlaid(_ key: String) -> (record: JSONValue?, state: RecordState, isChanged: Bool)? {
        var record = base[key]?.record ?? outside(key)
        var state: RecordState?
        var isChanged = false
        // By index, because a loop over the writes copies each of them.
        for index in writes.indices where writes[index].concerns(key) {
            let write = writes[index]
            if write.isEffective(confirmedOnly: confirmedOnly) {
                isChanged = true
                record = write.apply(to: record, key: key, id: id)
            }
            if confirmedOnly || write.results != nil {
                state = state ?? .confirmed
            } else if let failure = write.failure {
                state = .failed(failure)
            } else if state == nil || state == .confirmed {
                state = .pending
            }
        }
        // The record may have been replaced by its provisional id, before the server's was known.
        if isChanged, let known = base[key]?.record[id], let shown = record?[id], shown != known {
            record = record?.setting(id, to: known)
        }
        return state.map { (record, $0, isChanged) }
    }

    /// Returns what the server last reported of a record that the base lacks, into which pending writes may bring it.
    func outside(_ key: String) -> JSONValue? {
        guard base.plan.canMatch else { return nil }
        if let record = reported[key] { return record.object.map { _ in record } }
        let record = writes.last { $0.results?[key] != nil && $0.write.method != .remove }?.results?[key]
        return record.flatMap { base.plan.matches($0) ? Optional.none : $0 }
    }

    /// Whether a record belongs to the result. A record that the server has included stays, if the query cannot be
    /// evaluated locally.
    private func includes(_ record: JSONValue, _ key: String) -> Bool {
        base.plan.canMatch ? base.plan.matches(record) : base[key] != nil
    }

    /// Returns the shadow of a record, not yet in its place; nil if the record is shown as in the base.
    private mutating func shadow(_ key: String, _ old: Shadow?) -> Shadow? {
        guard let (record, state, isChanged) = overlaid(key), isChanged || state != .confirmed else {
            reported.removeValue(forKey: key)
            return nil
        }
        let known = base[key]
        guard let record, includes(record, key) else { return known.map { _ in Shadow(row: nil, added: -1) } }
        let (place, added) = (base.order.isSorted ? 0 : known?.place ?? placeAfterBase(key), known == nil ? 1 : 0)
        if let row = old?.row, row.state == state, row.record == record {
            return Shadow(row: row.place == place ? row : row.moved(to: place), added: added)
        }
        return Shadow(row: base.row(key, record, at: place, state, isWritten: true), added: added)
    }

    /// Returns the place of a record that is not in the base. Without an order, such records come last, in the order of
    /// their writes.
    private func placeAfterBase(_ key: String) -> Int {
        guard let write = writes.first(where: { $0.concerns(key) }) else { return .max }
        return 1 << 60 + write.number << 16 + (write.targets.firstIndex { $0.key == key } ?? 0)
    }

    /// Returns the rows in which some records are shown now, for ``refresh(_:replacing:)`` after the base has changed.
    func shownRows(of keys: [String]) -> [String: LiveRow?] {
        Dictionary(keys.map { ($0, shadows[$0].map(\.row) ?? base[$0]) }) { first, _ in first }
    }

    /// Updates the rows of some records after a change of the writes or of the base. Takes time only for these records.
    /// - Parameters:
    ///   - keys: The records. They include all whose record in the base has changed.
    ///   - shown: The rows of those that have changed in the base, before that.
    mutating func refresh(_ keys: [String], replacing shown: [String: LiveRow?]? = nil) {
        // An incomplete base may also have lost its last rows.
        guard isKnown, base.plan.skip == 0, !base.order.isForeign, shown == nil || base.isComplete else {
            return rebuild()
        }
        // What the rows are without shadows.
        let isBase = self.rows == nil
        var rows = self.rows ?? base.entries
        // Moved out, so that mutating it does not copy it.
        self.rows = nil
        var done: Set<String> = []
        for key in keys where done.insert(key).inserted {
            let old = shadows[key]
            let present: LiveRow? = isBase ? base[key] : shown?[key] ?? old.map(\.row) ?? base[key]
            shadows[key] = shadow(key, old)
            guard old != nil || shadows[key] != nil || !isBase else { continue }
            if let present, let index = base.order.index(of: present, in: rows) {
                let next = shadows[key].map(\.row) ?? base[key]
                // Most writes leave a record where it is, so that its place need not be searched.
                if let next, let known = base[key], base.order.keepsIndex(present, next),
                    base.order.keepsIndex(known, next)
                {
                    rows.replace(index, with: next)
                    continue
                }
                rows.remove(at: index)
            }
            if let shadow = shadows[key] {
                place(key, shadow, in: &rows)
            } else if let row = base[key] {
                rows.insert(row, at: base.order.insertionIndex(for: row.record, at: row.place, in: rows))
            }
        }
        self.rows = shadows.isEmpty ? nil : rows
    }

    /// Computes all rows again. Takes time for the records of all writes, but not for the others.
    mutating func rebuild() {
        let old = shadows
        (shadows, rows) = ([:], nil)
        var seen: Set<String> = []
        let keys = writes.flatMap(\.keys).filter { seen.insert($0).inserted }
        reported = reported.filter { seen.contains($0.key) && base[$0.key] == nil }
        for key in keys { shadows[key] = shadow(key, old[key]) }
        guard !shadows.isEmpty else { return }
        var rows = base.entries
        var unplaced: [String] = []
        for key in keys {
            guard let shadow = shadows[key] else { continue }
            guard let known = base[key], let index = base.order.index(of: known, in: rows) else {
                unplaced.append(key)
                continue
            }
            if let row = shadow.row, base.order.keepsIndex(known.record, row.record) {
                rows.replace(index, with: row)
            } else {
                rows.remove(at: index)
                unplaced.append(key)
            }
        }
        for key in unplaced { if let shadow = shadows[key] { place(key, shadow, in: &rows) } }
        self.rows = rows
    }

    /// Inserts the row of a shadow in its place, unless it belongs before or after the known part.
    private mutating func place(_ key: String, _ shadow: Shadow, in rows: inout LiveRows) {
        guard let row = shadow.row else { return }
        let index = base.order.insertionIndex(for: row.record, at: row.place, in: rows)
        let isKnownPlace = base[key].map { base.order.keepsIndex($0.record, row.record) } ?? false
        guard isKnownPlace || (base.isComplete || index < rows.count) && (base.plan.skip == 0 || index > 0) else {
            shadows[key]?.row = nil
            return
        }
        rows.insert(row, at: index)
    }
}
