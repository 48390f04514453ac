import FeathersCore

/// The known part of a query's result on the server: its first records in order, updated by events. A state machine
/// without I/O.
///
/// If the result has a limit, it holds some records beyond the limit, so that most removals need no fetch. When it
/// cannot determine the result, for example because it needs the record after the last known one, it sets
/// ``needsFetch``.
struct LiveWindow: Sendable {
    /// The distance between the places of a first result's rows, which leaves room for new ones.
    static let placeStep = 1 << 16

    /// Whether the result must be fetched before it is correct again.
    private(set) var needsFetch = true
    let plan: LiveQueryPlan
    /// The first records of the result, in order and without gaps.
    private(set) var entries = LiveRows()
    private var table: [String: LiveRow] = [:]
    /// Whether no record follows the last entry.
    private(set) var isComplete = true
    /// The number of records to show.
    private(set) var limit: Int
    private(set) var order = LiveOrder.arrival
    private var fetchedTotal: Int?
    /// Whether the total may be off, because an event concerned a record that was not known.
    private(set) var isTotalEstimated = false

    init(_ plan: LiveQueryPlan) {
        self.plan = plan
        limit = plan.limit ?? .max
        needsFetch = plan.limit != 0
        order = LiveOrder(plan.sorter, of: [])
    }

    /// The records to show, in order.
    var visible: LiveRows { entries.limited(to: limit) }

    /// The number of records in the whole result; nil if it is not known.
    var total: Int? { isComplete && plan.limit != 0 ? plan.skip + entries.count : fetchedTotal }

    /// Returns what the server last reported about a record; nil if it is not in the known part.
    subscript(key: String) -> LiveRow? { table[key] }

    /// Marks the known part as possibly outdated, because events were missed.
    mutating func missedEvents() { needsFetch = plan.limit != 0 }

    /// Clears the result until it is fetched again.
    mutating func clear() {
        (entries, table, fetchedTotal, isTotalEstimated, isComplete) = (LiveRows(), [:], nil, false, true)
        order = LiveOrder(plan.sorter, of: [])
    }

    /// Returns a row with a new version.
    func row(
        _ key: String, _ record: JSONValue, at place: Int, _ state: RecordState = .confirmed, isWritten: Bool = false
    ) -> LiveRow {
        LiveRow(
            key: key, record: record, sortValue: plan.sorter?.firstValue { record[$0] }, place: place, state: state,
            isWritten: isWritten)
    }

    /// Applies the server's response to the plan's request.
    /// - Parameter asked: The number of records that were requested; nil for the plan's own limit.
    mutating func fetched(_ page: Page<JSONValue>, asked: Int? = nil) throws(FeathersError) {
        var rows: [LiveRow] = []
        var fresh: [String: LiveRow] = Dictionary(minimumCapacity: page.data.count)
        rows.reserveCapacity(page.data.count)
        // Rows that stay keep their places.
        let step = table.isEmpty ? Self.placeStep : 1
        var place = 0
        for record in page.data {
            guard let key = plan.key(of: record) else {
                throw FeathersError(
                    .generalError,
                    "A live query needs records with an id: pass the name of the property if it is not 'id', "
                        + "such as '_id' for MongoDB")
            }
            let row: LiveRow
            if let known = table[key], known.record == record {
                row = known.place > place ? known : known.moved(to: place + step)
            } else {
                row = self.row(key, record, at: place + step)
            }
            if let first = fresh.updateValue(row, forKey: key) {
                fresh[key] = first
                continue
            }
            place = row.place
            rows.append(row)
        }
        let asked = asked ?? plan.limit.map { $0 + plan.headroom } ?? .max
        isComplete = page.total.map { plan.skip + page.count >= $0 } ?? (page.count < asked)
        needsFetch = false
        replaceAll(with: LiveRows(rows), fresh, LiveOrder(plan.sorter, of: rows), limit: page.limit, total: page.total)
    }

    /// Applies a result from disk. It must still be fetched.
    mutating func restored(_ result: KeptResult) {
        var table: [String: LiveRow] = Dictionary(minimumCapacity: result.rows.count)
        for row in result.rows { table[row.key] = row }
        isComplete = result.isComplete
        missedEvents()
        replaceAll(
            with: result.rows, table, LiveOrder(plan.sorter, isSorted: result.isSorted), limit: result.limit,
            total: result.total)
    }

    private mutating func replaceAll(
        with rows: LiveRows, _ table: [String: LiveRow], _ order: LiveOrder, limit: Int?, total: Int?
    ) {
        (entries, self.table, self.order) = (rows, table, order)
        self.limit = min(plan.limit ?? .max, limit.flatMap { $0 > 0 ? $0 : nil } ?? .max)
        (fetchedTotal, isTotalEstimated) = (total, false)
    }

    /// Applies an event of the service.
    /// - Parameter isRepeated: Whether the last fetch may already include the event.
    /// - Returns: Whether the visible records may have changed.
    mutating func received(_ event: ServiceEvent, isRepeated: Bool = false) -> Bool {
        guard let key = plan.key(of: event.data) else { return false }
        guard plan.canMatch else { return receivedUnjudged(event, key) }
        let matches = plan.matches(event.data)
        count(event.name, isKnown: table[key] != nil, matches: matches, isRepeated: isRepeated)
        let isMatch = event.name != .removed && matches
        if plan.skip > 0 { return receivedAfterSkipped(event, key, isMatch, matches) }
        guard isMatch else { return table[key] != nil && removed(key) }
        return table[key] != nil ? changed(key, event.data) : appeared(key, event.data, isNew: event.name == .created)
    }

    /// Returns whether the known part shows an event that it has received, or rightly leaves it out.
    func took(_ event: ServiceEvent, _ key: String) -> Bool {
        if let row = table[key] { return event.name != .removed && row.record == event.data }
        guard event.name != .removed, plan.canMatch else { return plan.skip == 0 && event.name == .removed }
        let hasPlace = order.isSorted || event.name == .created
        return plan.skip == 0 && (!plan.matches(event.data) || hasPlace && isBeyond(event.data))
    }

    /// Returns whether a record of the result follows the known part.
    func isBeyond(_ record: JSONValue) -> Bool {
        !isComplete && order.insertionIndex(for: record, in: entries) == entries.count
    }

    /// Moves a record to the end of a result without an order, because its creation follows all others.
    /// - Returns: Whether anything changed.
    mutating func moveToEnd(_ key: String) -> Bool {
        guard case .arrival = order, let row = table[key], entries.last?.key != key, let index = index(of: key) else {
            return false
        }
        entries.remove(at: index)
        let moved = row.moved(to: lastPlace + 1)
        table[key] = moved
        entries.insert(moved, at: entries.count)
        return true
    }

    private var lastPlace: Int { entries.last?.place ?? 0 }

    /// Adjusts the total to an event.
    private mutating func count(_ name: EventName, isKnown: Bool, matches: Bool, isRepeated: Bool) {
        guard let total = fetchedTotal, !isComplete else { return }
        switch (isKnown, name) {
        case (true, .removed): fetchedTotal = total - 1
        case (true, _): if !matches { fetchedTotal = total - 1 }
        // The fetch may have counted the record already, or no longer.
        case (false, .created), (false, .removed):
            guard matches else { return }
            if isRepeated {
                isTotalEstimated = true
            } else {
                fetchedTotal = max(total + (name == .created ? 1 : -1), 0)
            }
        case (false, _): if plan.hasConditions { isTotalEstimated = true }
        }
    }

    /// Applies an event to a query that cannot be evaluated locally: every change may matter, so the result is fetched
    /// again.
    private mutating func receivedUnjudged(_ event: ServiceEvent, _ key: String) -> Bool {
        if event.name == .removed, plan.skip == 0, table[key] != nil {
            count(.removed, isKnown: true, matches: true, isRepeated: false)
            return removed(key)
        }
        if table[key]?.record != event.data { needsFetch = plan.limit != 0 }
        return false
    }

    /// Applies an event to a query with `$skip`. The skipped records are unknown, so only a record that keeps its index
    /// can be updated.
    private mutating func receivedAfterSkipped(_ event: ServiceEvent, _ key: String, _ isMatch: Bool, _ matches: Bool)
        -> Bool
    {
        if isMatch, let known = table[key], order.keepsIndex(known.record, event.data), let index = index(of: key) {
            guard known.record != event.data else { return false }
            replace(index, with: event.data)
            return index < limit
        }
        let wasAMatch = event.name == .created ? false : event.name != .removed || matches
        if isMatch || wasAMatch || table[key] != nil { needsFetch = true }
        return false
    }

    private mutating func removed(_ key: String) -> Bool {
        guard let index = index(of: key) else { return false }
        entries.remove(at: index)
        table[key] = nil
        refillIfShort()
        return index < limit
    }

    private mutating func changed(_ key: String, _ record: JSONValue) -> Bool {
        // An event may repeat what a fetch has already returned.
        guard let known = table[key], known.record != record, let index = index(of: key) else { return false }
        if order.keepsIndex(known.record, record) {
            replace(index, with: record)
            return index < limit
        }
        guard case .sorted = order else {
            // The server's sort order cannot be reproduced locally.
            needsFetch = true
            return false
        }
        entries.remove(at: index)
        table[key] = nil
        let newIndex = insert(key, record)
        refillIfShort()
        return min(index, newIndex ?? index) < limit
    }

    private mutating func appeared(_ key: String, _ record: JSONValue, isNew: Bool) -> Bool {
        switch order {
        case .sorted: break
        // New records come last. Only the server knows the position of an older record.
        case .arrival where isNew: break
        case .arrival, .foreign:
            needsFetch = true
            return false
        }
        guard let index = insert(key, record) else { return false }
        let greatest = limit == .max ? Int.max : limit + 2 * max(plan.headroom, 5)
        if entries.count > greatest {
            if isComplete { fetchedTotal = plan.skip + entries.count }
            for row in entries[greatest...] { table[row.key] = nil }
            entries = entries.limited(to: greatest)
            isComplete = false
        }
        return index < limit
    }

    /// - Returns: The record's index; nil if it belongs after the known part.
    private mutating func insert(_ key: String, _ record: JSONValue) -> Int? {
        let index = order.insertionIndex(for: record, in: entries)
        guard isComplete || index < entries.count else { return nil }
        let row = row(key, record, at: lastPlace + 1)
        entries.insert(row, at: index)
        table[key] = row
        return index
    }

    private mutating func replace(_ index: Int, with record: JSONValue) {
        let old = entries[index]
        let row = row(old.key, record, at: old.place)
        entries.replace(index, with: row)
        table[row.key] = row
    }

    private mutating func refillIfShort() {
        if entries.count < limit, !isComplete { needsFetch = true }
    }

    private func index(of key: String) -> Int? { table[key].flatMap { order.index(of: $0, in: entries) } }
}
