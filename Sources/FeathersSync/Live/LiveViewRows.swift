import FeathersCore

/// The rows of a live query: the base's entries, except for the records that pending writes concern.
extension LiveView {
    /// Returns a record with the pending writes applied, and its state; nil if no pending write concerns it.
    private func overlaid(_ key: String) -> (record: JSONValue?, state: RecordState, isChanged: Bool)? {
        var record = base[key]?.record
        var state: RecordState?
        var isChanged = false
        for write in writes where write.keys.contains(key) {
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
        return state.map { (record, $0, isChanged) }
    }

    /// Whether a record belongs to the result. A record that the server has included stays, if the query cannot be evaluated locally.
    private func includes(_ record: JSONValue, _ key: String) -> Bool {
        base.plan.canMatch ? base.plan.matches(record) : base[key] != nil
    }

    /// Returns the shadow of a record, not yet in its place; nil if the record is shown as in the base.
    private mutating func shadow(_ key: String, _ old: Shadow?) -> Shadow? {
        guard let (record, state, isChanged) = overlaid(key), isChanged || state != .confirmed else { return nil }
        guard let record, includes(record, key) else {
            return base[key] != nil ? Shadow(row: nil, record: nil, state: state) : nil
        }
        if let row = old?.row, old?.state == state, row.record == record { return Shadow(row: row, record: record, state: state) }
        return Shadow(row: base.entry(key, record), record: record, state: state)
    }

    /// Updates the rows of some records after a change of the writes. Takes time only for these records.
    mutating func refresh(_ keys: [String]) {
        guard case .sorted = base.order, base.plan.skip == 0, isKnown else { return rebuild() }
        var rows = self.rows ?? base.entries
        // Moved out, so that mutating it does not copy it.
        self.rows = nil
        for key in Set(keys) {
            let old = shadows[key]
            if let present = old.map(\.row) ?? base[key] {
                if let index = base.order.index(of: present, in: rows) { rows.remove(at: index) }
                states[present.version] = nil
            }
            shadows[key] = shadow(key, old)
            if let shadow = shadows[key] {
                place(key, shadow, in: &rows)
            } else if let entry = base[key] {
                rows.insert(entry, at: base.order.insertionIndex(for: entry.record, in: rows))
            }
        }
        self.rows = shadows.isEmpty ? nil : rows
    }

    mutating func rebuildIfShadowed() { if !shadows.isEmpty || !writes.isEmpty { rebuild() } }

    /// Computes all rows again.
    mutating func rebuild() {
        let old = shadows
        (shadows, states, rows) = ([:], [:], nil)
        var seen: Set<String> = []
        let keys = writes.flatMap(\.keys).filter { seen.insert($0).inserted }
        for key in keys { shadows[key] = shadow(key, old[key]) }
        guard !shadows.isEmpty else { return }
        var rows: [LiveWindow.Entry] = []
        rows.reserveCapacity(base.entries.count + shadows.count)
        var inPlace: Set<String> = []
        for entry in base.entries {
            guard let shadow = shadows[entry.key] else {
                rows.append(entry)
                continue
            }
            guard let row = shadow.row, base.order.keepsIndex(entry.record, row.record) else { continue }
            inPlace.insert(entry.key)
            if shadow.state != .confirmed { states[row.version] = shadow.state }
            rows.append(row)
        }
        for key in keys where !inPlace.contains(key) {
            if let shadow = shadows[key] { place(key, shadow, in: &rows) }
        }
        self.rows = rows
    }

    /// Inserts the row of a shadow in its place, unless it belongs before or after the known part.
    private mutating func place(_ key: String, _ shadow: Shadow, in rows: inout [LiveWindow.Entry]) {
        guard let row = shadow.row else { return }
        let index = base.order.insertionIndex(for: row.record, in: rows)
        let isKnownPlace = base[key].map { base.order.keepsIndex($0.record, row.record) } ?? false
        guard isKnownPlace || (base.isComplete || index < rows.count) && (base.plan.skip == 0 || index > 0) else {
            shadows[key]?.row = nil
            return
        }
        if shadow.state != .confirmed { states[row.version] = shadow.state }
        rows.insert(row, at: index)
    }
}
