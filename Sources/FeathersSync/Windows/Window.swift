import FeathersCore
import Foundation

/// The result of a live query as the server has it, without queued writes: its first records in order, which fetches
/// bring and reports change.
///
/// If the result has a limit, the window knows some records beyond it, so that most removals need no fetch.
struct Window: Sendable {
    typealias ID = Int

    /// How soon a fetch is wanted.
    enum Urgency: Int, Sendable, Comparable {
        /// After a short delay, so that several requests cause one fetch.
        case soon
        case now

        static func < (left: Urgency, right: Urgency) -> Bool { left.rawValue < right.rawValue }
    }

    /// A fetch in flight.
    struct Fetch: Sendable {
        /// The records that a fetch asks for.
        enum Scope: Sendable, Equatable {
            case all
            /// The records after the last known one.
            case rest
            /// The records of further keys.
            case keys
        }

        /// Where the page of an addition begins.
        struct Seam: Sendable {
            /// The key of the last known record, with which it begins; nil if it begins behind that.
            let key: String?
            /// The number of records before it that meet its conditions.
            let start: Int
            /// Whether it has a condition for the values behind an earlier record's.
            let isByValue: Bool
            /// The number of records that meet its conditions; nil if that is not known.
            let total: Int?
        }

        var scope = Scope.all
        /// The number of records that it asks for; nil without a limit.
        let asked: Int?
        /// The keys whose records it asks for, if the window has keys.
        var keys: RelatedKeys?
        var seam: Seam?
        /// When it was sent.
        let time: Int
    }

    /// The distance between the places of a first result's rows, which leaves room for new ones.
    static let placeStep = 1 << 16

    var judge: QueryJudge
    /// Whether the service's path has values for placeholders, of which events say nothing.
    let hasRoute: Bool
    /// Whether hooks changed the query of the last fetch on its way, or its result on the way back.
    private(set) var hooks = HookEffects()
    /// The first records of the result, in order and without gaps.
    var known = ResultRows()
    var table: [String: ResultRow] = [:]
    var order: ResultOrder
    /// Whether no record follows the last known one.
    var isComplete = false
    /// The number of records to show before the list grows: the query's limit or the server's, if that is less.
    private(set) var firstLimit: Int
    /// The number of records to show beyond the first limit.
    var growth = 0
    /// The number of records in the whole result, if the server has reported it.
    private(set) var fetchedTotal: Int?
    /// Whether a report may have changed the total.
    private(set) var isTotalEstimated = false
    /// Whether the last fetch of a count agreed with what events had made of it. Otherwise, the fetch may have counted a
    /// record whose event is late.
    private(set) var isProven = false
    /// Where the known part comes from.
    var source = ResultSource.stored(since: .distantPast)
    var fetch: Fetch?
    /// The fetch in flight of records after the last known one.
    var addition: Fetch?
    var following = Following.byValue
    /// The keys whose records have not been fetched, if the window has keys.
    var missing: Set<String> = []
    /// The keys whose records were not all read, because of a limit.
    var unread: Set<String> = []
    /// The fetch that is wanted after the one in flight, if any.
    var wanted: Urgency?
    /// When the fetch was sent that was answered last; 0 before.
    var time = 0
    /// Records requested and received, additions included.
    var asked = 0
    var brought = 0
    /// What was shown last.
    var shown = Shown()

    init(_ judge: QueryJudge, hasRoute: Bool = false) {
        (self.judge, self.hasRoute) = (judge, hasRoute)
        (firstLimit, wanted) = (judge.limit ?? .max, .now)
        order = ResultOrder(judge.sorter, of: [])
    }

    /// The number of records to show.
    var limit: Int { firstLimit == .max ? .max : firstLimit + growth }
    /// Whether there is a result, from the server or from disk.
    var isKnown: Bool { time > 0 && judge.keys == nil || source != .stored(since: .distantPast) }
    /// Whether the rows are the records that all windows share: `$select` and hooks can shape them for this query only.
    var isShared: Bool { !judge.hasSelection && !hooks.changeResults }
    /// Whether the client can predict the result of a fetch.
    var isJudged: Bool { judge.canJudge && !hooks.changeQueries && !hasRoute }

    /// Whether the known part is as a fetch has brought it and reports have changed it, so that no fetch is needed.
    var isUpToDate: Bool { source == .server && wanted == nil && fetch.map { $0.scope == .keys } ?? true }

    /// Returns what the server last reported about a record; nil if it is not in the known part.
    subscript(key: String) -> ResultRow? { table[key] }

    /// The number of records in the whole result; nil if it is not known.
    var total: (count: Int, isEstimated: Bool)? {
        guard isKnown else { return nil }
        // An empty page does not tell how many records are before it.
        if isComplete, judge.skip == 0 || !known.isEmpty { return (judge.skip + known.count, isTotalEstimated) }
        return fetchedTotal.map { ($0, isTotalEstimated) }
    }

    /// Returns whether a record follows the known part, so that it is not known whether others are before it.
    func isBeyond(_ record: JSONValue) -> Bool {
        guard isKnown, !isComplete, judge.canJudge else { return false }
        return order.isForeign || order.insertionIndex(for: record, in: known) == known.count
    }

    /// Returns whether a record in one of these states is in the result or may be.
    func isConcerned(by key: String, _ states: [JSONValue?]) -> Bool {
        table[key] != nil || !isShared || !isJudged || states.contains { $0.map(judge.matches) ?? false }
    }
}

// MARK: - Fetches

extension Window {
    /// The fetch to begin, if any: also one that brings more records into a limited result.
    var wantedFetch: Urgency? { fetch == nil ? wanted ?? (missing.isEmpty ? nil : .now) : nil }

    mutating func want(_ urgency: Urgency) { wanted = max(wanted ?? .soon, urgency) }

    /// Asks for more records if fewer are shown than the limit and a fetch can help.
    mutating func wantFetchIfShort(of shownCount: Int) {
        guard fetch == nil, addition == nil, time > 0, !isComplete, judge.canJudge, shownCount < limit else { return }
        let hasLost = known.count < min(limit, brought - shown.hiddenCount) + shown.hiddenCount
        // A server that limits a query without a limit can't be asked for more.
        let most = judge.limit == nil ? 0 : limit + shown.hiddenCount
        if hasLost || asked < most { want(.now) }
    }

    /// Begins a fetch.
    /// - Parameter time: A greater one than that of any earlier fetch.
    mutating func beginFetch(at time: Int) -> (fetch: Fetch, request: Query<JSONValue>) {
        if wanted == nil, !missing.isEmpty, let keys = judge.keys?.only(missing) {
            let begun = Fetch(scope: .keys, asked: nil, keys: keys, time: time)
            fetch = begun
            return (begun, judge.request)
        }
        let limit = judge.limit.map { $0 + growth } ?? (growth > 0 ? limit : nil)
        // With a limit of 0, only the total is wanted.
        let asked = limit.map { $0 == 0 ? 0 : $0 + judge.headroom + shown.hiddenCount }
        let begun = Fetch(asked: asked, keys: judge.keys?.sent, time: time)
        (fetch, wanted) = (begun, nil)
        return (begun, judge.request(for: begun.asked))
    }

    mutating func setHooks(_ effects: HookEffects) { hooks = effects }

    /// Returns whether the state of a record in the last page agrees with what was reported of it.
    /// - Parameter found: The record in the page; nil if it is not there.
    func agrees(_ found: JSONValue?, with report: JSONValue?) -> Bool {
        if let found { return found == report }
        guard let report, judge.matches(report) else { return true }
        return isBeyond(report)
    }

    /// Gives up the fetch in flight. Its response is ignored.
    mutating func endFetch() { fetch = nil }

    /// Returns the rows of a page.
    /// - Parameter state: Returns the state of a record.
    /// - Throws: ``FeathersError/Code/generalError`` if a record has no id.
    func rows(of page: Page<JSONValue>, _ state: (String, JSONValue) -> Record) throws(FeathersError) -> [ResultRow] {
        var rows: [ResultRow] = []
        rows.reserveCapacity(page.data.count)
        var seen: Set<String> = Set(minimumCapacity: page.data.count)
        for record in page.data {
            guard let key = judge.key(of: record) else {
                throw FeathersError(
                    .generalError,
                    "A live query needs records with an id: pass the name of the property if it is not 'id', "
                        + "such as '_id' for MongoDB")
            }
            guard seen.insert(key).inserted else { continue }
            let state = state(key, record)
            if let row = table[key], isSame(row, state) { rows.append(row) } else { rows.append(row(state)) }
        }
        return rows
    }

    /// Applies the response to the fetch in flight.
    /// - Parameters:
    ///   - rows: The rows of the page, except for those that the log has replaced.
    ///   - hooks: What hooks did to the request and the response.
    ///   - reported: The keys of the records that were reported since the fetch was sent.
    mutating func fetched(
        _ rows: [ResultRow], _ page: Page<JSONValue>, _ hooks: HookEffects, _ fetch: Fetch, _ reported: Set<String>
    ) {
        if fetch.scope == .rest { addition = nil } else { self.fetch = nil }
        self.hooks = hooks
        switch fetch.scope {
        case .all: break
        case .rest: return append(rows, page, fetch)
        case .keys: return add(rows, page, fetch, reported)
        }
        // It has brought what an addition would bring.
        (addition, following) = (nil, .byValue)
        isProven = source == .server && page.total == fetchedTotal
        missing.subtract(fetch.keys?.values.keys.map(\.self) ?? [])
        (time, asked, brought, source) = (fetch.time, fetch.asked ?? .max, page.count, .server)
        isComplete = !isCount && page.total.map { judge.skip + page.count >= $0 } ?? (page.count < asked)
        let (rows, later) = divide(rows, fetch)
        // Rows that stay keep their places if those increase.
        let step = table.isEmpty ? Self.placeStep : 1
        var place = 0
        let placed = rows.map { row in
            let placed = row.place > place ? row : row.moved(to: place + step)
            place = placed.place
            return placed
        }
        order = ResultOrder(judge.sorter, of: placed)
        // A page whose request named a limit of its own does not tell the server's.
        let isAsked = judge.limit == nil && fetch.asked != nil
        replaceAll(ResultRows(placed), limit: isAsked ? firstLimit : page.limit, total: page.total)
        for row in later where table[row.key] == nil { insert(row) }
    }

    mutating func replaceAll(_ rows: ResultRows, limit: Int?, total: Int?) {
        touch(nil)
        known = rows
        table = Dictionary(minimumCapacity: rows.count)
        for row in rows { table[row.key] = row }
        firstLimit = min(judge.limit ?? .max, limit.flatMap { $0 > 0 ? $0 : nil } ?? .max)
        (fetchedTotal, isTotalEstimated) = (total, false)
    }

    /// Forgets the result, because it cannot be shown.
    mutating func clear() {
        touch(nil)
        (known, table, isComplete, fetchedTotal, isTotalEstimated) = (ResultRows(), [:], false, nil, false)
        (time, source, addition) = (0, .stored(since: .distantPast), nil)
        (missing, unread) = (Set(judge.keys?.sent.values.keys.map(\.self) ?? []), [])
        if fetch == nil { wanted = .now }
    }
}

// MARK: - Reports

extension Window {
    /// Applies what was reported of a record: what a fetch would do to the known part, or a fetch if that is not known.
    /// - Parameters:
    ///   - isNew: Whether it was just created, so that it follows its equals.
    mutating func report(_ state: Record, isNew: Bool) {
        guard time > 0 else { return reportStored(state) }
        let (key, record) = (state.key, state.value)
        guard isShared, isJudged, let isMatch = record.map({ judge.judges($0) }) ?? false else {
            return reportUnjudged(state)
        }
        let old = table[key]
        guard let record, isMatch else {
            guard old != nil else { return isNew ? () : count(0) }
            remove(key)
            // The page contained the record, so the total includes it.
            fetchedTotal = fetchedTotal.map { max($0 - 1, 0) }
            return
        }
        if let old, order.keepsIndex(old.record, record) {
            if isNew, case .arrival = order, known.last?.key != key { want(.soon) }
            return replace(old, with: state)
        }
        // A record may come from behind the known part, where it was counted already.
        count(old == nil && isNew ? 1 : 0)
        if old != nil { remove(key) }
        let place = (known.last?.place ?? 0) + 1
        switch order {
        case .sorted:
            if hasUncertainPlace(record) { want(.soon) }
            insert(row(state, at: place))
        case .arrival:
            // Servers return records with equal sort values in the order of creation. Only a fetch shows where an
            // older record belongs.
            if !isNew { want(.soon) }
            insert(row(state, at: place))
        case .foreign: want(.soon)
        }
    }

    /// Returns whether a report changes nothing, because the record was not and is not in the result.
    func ignores(_ state: Record, isNew: Bool) -> Bool {
        guard table[state.key] == nil, time > 0 else { return table[state.key] == nil }
        guard isShared, isJudged, isNew || isComplete || isTotalEstimated else { return false }
        return state.value.map { judge.judges($0) } ?? false == false
    }

    private mutating func reportUnjudged(_ state: Record) {
        if let old = table[state.key] {
            if state.isRemoved {
                remove(state.key)
            } else {
                guard isShared else { return changed() }
                if old.record == state.value { return replace(old, with: state) }
                replace(old, with: state)
            }
        }
        changed()
    }

    /// Schedules a fetch, because the change cannot be determined locally.
    private mutating func changed() {
        isTotalEstimated = true
        want(.soon)
    }

    /// Adjusts the total to a report of a record that was not known. Unless the whole result is, it is an estimate until
    /// the next fetch, which may have counted the record.
    /// - Parameter isCertain: Whether the total did not include the report.
    mutating func count(_ change: Int, isCertain: Bool = false) {
        guard !isComplete else { return }
        fetchedTotal = fetchedTotal.map { max($0 + change, 0) }
        if isCertain { return }
        isTotalEstimated = true
        // The total is all that such a query shows.
        if isCount { want(.soon) }
    }

    /// Returns a row with a new version.
    func row(_ state: Record, at place: Int = 0) -> ResultRow {
        ResultRow(state, sortValue: judge.sorter?.firstValue { state.value?[$0] }, place: place)
    }

    /// Whether a row shows a state. Those of a shaped result are its own, and compared.
    private func isSame(_ row: ResultRow, _ state: Record) -> Bool {
        row.state === state || state.number == 0 && row.record == state.value
    }

    /// Inserts a row in its place, unless that is behind the known part.
    mutating func insert(_ row: ResultRow) {
        let index = order.insertionIndex(for: row.record, at: row.place, in: known)
        guard isComplete || index < known.count else { return }
        known.insert(row, at: index)
        table[row.key] = row
        trim()
    }

    /// Forgets records far beyond the limit.
    private mutating func trim() {
        let most = limit == .max ? Int.max : limit + 2 * max(judge.headroom, 5)
        // An addition follows the last known record.
        guard known.count > most, addition == nil else { return }
        if isComplete { fetchedTotal = judge.skip + known.count }
        for row in known[most...] { table[row.key] = nil }
        (known, isComplete) = (known.limited(to: most), false)
    }

    mutating func replace(_ old: ResultRow, with state: Record) {
        guard old.state !== state, let index = order.index(of: old, in: known) else { return }
        let row = old.record == state.value ? old.inState(state) : row(state, at: old.place)
        known.replace(index, with: row)
        table[row.key] = row
    }

    mutating func remove(_ key: String) {
        guard let row = table.removeValue(forKey: key), let index = order.index(of: row, in: known) else { return }
        known.remove(at: index)
    }
}

/// What hooks changed in a fetch. If they changed anything, events alone cannot update the result.
struct HookEffects: Sendable, Equatable {
    /// Whether the server was asked for something else.
    var changeQueries = false
    /// Whether hooks changed the records that the server sent.
    var changeResults = false

    func union(_ other: HookEffects) -> HookEffects {
        HookEffects(
            changeQueries: changeQueries || other.changeQueries, changeResults: changeResults || other.changeResults)
    }
}
