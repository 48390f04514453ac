// Locks: Values without a lock.

public import FeathersCore

// Rows and snapshots that no live query has made, for previews and tests of views.
extension LiveRow {
    /// Creates a row for a preview or a test of a view. It has no related records.
    /// - Parameters:
    ///   - record: The record.
    ///   - id: The id of the row, different from those of the other rows.
    ///   - state: Whether the server has confirmed the record.
    public init(record: Record, id: String, state: RecordState = .confirmed) {
        self.init(id: id, record: record, state: state, write: nil)
    }
}

extension LiveRow where Record: Identifiable, Record.ID: ServiceIDConvertible {
    /// Creates a row for a preview or a test of a view, with the record's id. It has no related records.
    public init(record: Record, state: RecordState = .confirmed) {
        self.init(record: record, id: (try? record.id.serviceID.description) ?? "", state: state)
    }
}

extension LiveSnapshot {
    /// Creates a snapshot for a preview or a test of a view.
    /// - Parameters:
    ///   - rows: The rows, whose ids differ. Their related records are left out.
    ///   - source: Where the records are said to come from.
    public init(rows: [LiveRow<Record>], source: ResultSource = .server) {
        let all = rows.enumerated().map { index, row in
            let shown = ResultRow(
                FeathersSync.Record(row.id, .null), place: index, writeState: row.state, write: row.write)
            shown.decoded(as: row.record)
            return shown
        }
        let content = LiveContent(rows: ResultRows(all), source: source, total: all.count)
        let changes = content.rows.changes(since: ResultRows())
        self.init(
            content.rows, content,
            LiveDifference(changes, of: content.rows, since: ResultRows(), firstKeys: content.firstKeys), identity: nil)
    }
}

extension LiveSnapshot where Record: Identifiable, Record.ID: ServiceIDConvertible {
    /// Creates a snapshot of confirmed records for a preview or a test of a view.
    public init(_ records: [Record], source: ResultSource = .server) {
        self.init(rows: records.map { LiveRow(record: $0) }, source: source)
    }
}
