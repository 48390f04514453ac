import FeathersCore

/// The latest known states of records, ordered by a property whose value only increases.
struct RecordVersions: Sendable {
    /// How a state follows what is known of its record.
    enum Order: Sendable {
        case older, equal, newer
        /// Nothing is known, or the versions cannot be compared.
        case unknown
    }

    /// The name of the property.
    let property: String
    /// The newest states, also of records in no window: a removed one has the version of its record.
    private var newest = RecentValues<Report>(limit: 10_000)

    init(property: String) { self.property = property }

    subscript(key: String) -> Report? { newest[key] }

    mutating func add(_ reports: [String: Report]) { newest.add(reports) }

    /// Compares the versions of two states.
    func order(of data: JSONValue?, after known: JSONValue?) -> Order {
        guard let version = data?[property], let known = known?[property], let order = version.versionOrder(to: known)
        else { return .unknown }
        return order < 0 ? .older : order > 0 ? .newer : .equal
    }
}

/// **Version.** If a record's version tells the order of two states, an older one is not taken, and a newer one is
/// taken without a fetch. Equal versions are not ordered, so that Hold and Confirm decide. A page that was requested
/// after a state was received is taken whatever their versions are: the server has the last word.
extension Store {
    /// Returns how a state follows what is known of its record. Without declared versions, that is unknown.
    func order(of report: Report) -> RecordVersions.Order {
        versions?.order(of: report.data, after: newest(report.key)?.data) ?? .unknown
    }

    /// Returns the newest state that is known of a record.
    func newest(_ key: String) -> Report? {
        versions?[key] ?? known(key).map { Report(name: .patched, key: key, data: $0) }
    }

    /// Remembers a state that was taken.
    mutating func remember(_ report: Report) { versions?.add([report.key: report]) }

    /// Remembers the states of a result's records.
    mutating func remember(_ rows: some Sequence<ResultRow>) {
        guard versions != nil else { return }
        let reports = rows.map { ($0.key, Report(name: .patched, key: $0.key, data: $0.record)) }
        versions?.add(Dictionary(reports) { first, _ in first })
    }

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

    /// Puts what is known in the place of older records of a page, and forgets the reports that are older than it.
    mutating func order(_ page: inout OrderedPage, for window: Window) {
        guard versions != nil, window.isShared else { return }
        var rows: [ResultRow] = []
        rows.reserveCapacity(page.rows.count)
        for row in page.rows {
            switch order(of: Report(name: .patched, key: row.key, data: row.record)) {
            case .unknown, .equal: rows.append(row)
            // What is known was received before the page was requested: its version was wrong, or has begun again.
            case .older where page.log[row.key] == nil: rows.append(row)
            case .newer:
                page.log[row.key] = nil
                _ = endHold(row.key)
                rows.append(row)
            case .older:
                let record = newest(row.key)?.record
                page.found[row.key] = record
                page.log[row.key] = [record]
                guard let record else { continue }
                let isInPlace = window.judge.judges(record) == true && window.order.keepsIndex(row.record, record)
                if window.isJudged, !isInPlace { continue }
                page.log[row.key] = nil
                rows.append(window.row(row.key, record, at: row.place))
            }
        }
        page.rows = rows
    }
}
