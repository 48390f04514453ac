import FeathersCore

/// What was reported of records while pages were on their way, in order: one log for all fetches of a store, each of
/// which has a cursor in it.
///
/// A page may be older or newer than a report that arrived after it was requested. Bounded: a fetch whose reports were
/// forgotten is thrown away and made again.
struct ReportLog: Sendable {
    /// The number of reports that are kept.
    static let limit = 50_000

    private var reports: [(key: String, record: JSONValue?)] = []
    /// The number of reports that were forgotten.
    private var forgotten = 0
    /// The number of reports before each fetch, by the time at which it was sent.
    private var cursors: [Int: Int] = [:]

    /// Begins to keep reports for a fetch.
    mutating func begin(at time: Int) { cursors[time] = forgotten + reports.count }

    mutating func append(_ key: String, _ record: JSONValue?) {
        guard !cursors.isEmpty else { return }
        reports.append((key, record))
        guard reports.count > 2 * Self.limit else { return }
        forget(before: forgotten + reports.count - Self.limit)
    }

    /// Returns what was reported since a fetch was sent: each record's states in order, nil if it was removed.
    /// - Returns: Nil if some of that was forgotten.
    func reports(since time: Int) -> [String: [JSONValue?]]? {
        guard let cursor = cursors[time], cursor >= forgotten else { return nil }
        var states: [String: [JSONValue?]] = [:]
        for (key, record) in reports[(cursor - forgotten)...] { states[key, default: []].append(record) }
        return states
    }

    /// Forgets what no fetch in flight needs.
    /// - Parameter times: When the fetches in flight were sent.
    mutating func trim(except times: @autoclosure () -> Set<Int>) {
        guard !cursors.isEmpty else { return }
        let times = times()
        cursors = cursors.filter { times.contains($0.key) }
        forget(before: cursors.values.min() ?? .max)
    }

    private mutating func forget(before cursor: Int) {
        let count = min(max(cursor - forgotten, 0), reports.count)
        reports.removeFirst(count)
        forgotten += count
    }
}
