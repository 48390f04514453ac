import FeathersCore

/// Counts: the windows of queries with a limit of 0, which have a total and no rows.
///
/// A report changes a count by the difference between the record and its former state. If that is not known, or if the
/// count may include the report already, the count is fetched again: a page may be newer than an event that follows it.
extension Store {
    /// Whether any window is a count. The states of records are then kept to compare reports with them.
    var hasCounts: Bool { windows.values.contains(where: \.isCount) }

    /// Changes the counts by what an event, or the response to a write, says of a record. Call it before the state is
    /// taken, and not for the event of a write whose response was taken.
    mutating func recount(_ report: Report) {
        guard hasCounts else { return }
        let former = records[report.key]
        // A list was fetched after the change, but maybe not the count.
        let isKnown = former.map { $0.isRemoved == (report.record == nil) && $0.value == report.record } ?? false
        for id in ids where windows[id]?.isCount == true {
            let difference = windows[id]?.difference(report, from: former, isKnown: isKnown) ?? nil
            if difference == 0 { continue }
            _ = change(id) { $0.count(difference ?? 0, isCertain: difference != nil && $0.fetch == nil && $0.isProven) }
        }
    }

    /// Fetches the counts that a state from a page may change. Call it before the state is taken.
    mutating func recount(_ state: Record) {
        guard let former = records[state.key], hasCounts else { return }
        for id in ids {
            guard let window = windows[id], window.isCount else { continue }
            if window.isJudged, window.counts(former.value) == window.counts(state.value) { continue }
            _ = change(id) { $0.count(0) }
        }
    }
}

extension Window {
    /// Whether the number of records is all that the query shows.
    var isCount: Bool { judge.limit == 0 }

    /// Returns whether a count includes a record; nil if only the server knows.
    func counts(_ record: JSONValue?) -> Bool? { record.map { judge.judges($0) } ?? false }

    /// Returns the difference that a report makes to the count; nil if only the server knows.
    /// - Parameters:
    ///   - former: What was known of the record before; nil if nothing was.
    ///   - isKnown: Whether the report was known, so that the count may include it.
    fileprivate func difference(_ report: Report, from former: Record?, isKnown: Bool) -> Int? {
        guard time > 0 else { return isKnown ? nil : 0 }
        guard isJudged else { return nil }
        let former = isKnown ? nil : former
        let before: Bool?? =
            switch (former, report.name) {
            case (let former?, .created) where !former.isRemoved: .none
            case (let former?, _): .some(counts(former.value))
            case (nil, .created): .some(false)
            case (nil, .removed): report.data.map { judge.judges($0) }
            case (nil, _): .none
            }
        guard let was = before ?? nil, let isCounted = counts(report.record) else { return nil }
        if was == isCounted { return 0 }
        return isKnown ? nil : isCounted ? 1 : -1
    }

    /// Returns the count with the queued writes to known records applied.
    func counted(
        _ writes: some Sequence<LocalWrite>, _ records: Records, hiding lookAlikes: [String: LookAlike]
    ) -> Content {
        var (change, parts) = (0, [String: [LocalWrite]]())
        for key in lookAlikes.keys where counts(records[key]?.value) == true { change -= 1 }
        for write in writes where replays(write) && lookAlikes[write.key] == nil {
            parts[write.key, default: []].append(write)
        }
        for (key, writes) in parts where judge.canJudge {
            let base = records.ofWrite(key)
            guard base != nil || writes[0].write.method == .create else { continue }
            let record = applied(writes, to: base, base).record
            guard let was = counts(base), let isCounted = counts(record), was != isCounted else { continue }
            change += isCounted ? 1 : -1
        }
        return Content(
            rows: ResultRows(), total: total.map { max($0.count + change, 0) },
            isTotalEstimated: total?.isEstimated ?? false)
    }
}
