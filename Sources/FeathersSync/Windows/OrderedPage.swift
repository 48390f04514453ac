import FeathersCore

/// A page whose records are ordered with what is known of them.
struct OrderedPage {
    var rows: [ResultRow]
    /// The states of the page's records, by key.
    var found: [String: JSONValue]
    /// What was reported of records since the page was sent: each one's states in order, nil if it was removed.
    var log: [String: [JSONValue?]]

    init(_ rows: [ResultRow], _ log: [String: [JSONValue?]]) {
        (self.rows, self.log) = (rows, log)
        found = Dictionary(minimumCapacity: rows.count)
        for row in rows { found[row.key] = row.record }
    }
}

/// **Version.** If a record's version tells the order of two states, an older one is not taken, and a newer one is
/// taken without a fetch. Equal versions are not ordered, so that Hold and Confirm decide. A page that was requested
/// after a state was received is taken whatever their versions are: the server has the last word.
extension Store {
    /// Puts what is known in the place of older records of a page, and forgets the reports that are older than it.
    mutating func order(_ page: inout OrderedPage, for window: Window) {
        guard records.version != nil, window.isShared else { return }
        var rows: [ResultRow] = []
        rows.reserveCapacity(page.rows.count)
        for row in page.rows {
            switch records.order(of: Report(name: .patched, key: row.key, data: row.record)) {
            case .unknown, .equal: rows.append(row)
            // What is known was received before the page was requested: its version was wrong, or has begun again.
            case .older where page.log[row.key] == nil: rows.append(row)
            case .newer:
                page.log[row.key] = nil
                records.endHold(row.key)
                rows.append(row)
            case .older:
                let known = records[row.key]
                page.found[row.key] = known?.value
                page.log[row.key] = [known?.value]
                guard let known, let record = known.value else { continue }
                let isInPlace = window.judge.judges(record) == true && window.order.keepsIndex(row.record, record)
                if window.isJudged, !isInPlace { continue }
                page.log[row.key] = nil
                rows.append(window.row(known, at: row.place))
            }
        }
        page.rows = rows
    }
}
