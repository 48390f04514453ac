import FeathersCore

/// The known part of a query's result: its first records in order, updated by events. A state machine without I/O.
///
/// If the result has a limit, it holds some records beyond the limit, so that most removals need no fetch. When it cannot determine the result, for
/// example because it needs the record after the last known one, it sets ``needsFetch``.
struct LiveWindow: Sendable {
    struct Entry: Sendable {
        let key: String
        var record: JSONValue
        /// Distinguishes two states of a record without comparing their contents.
        var version: Int
    }

    /// Whether the result must be fetched before it is correct again.
    private(set) var needsFetch = true
    let plan: LiveQueryPlan
    /// The first records of the result, in order and without gaps.
    private var entries: [Entry] = []
    private var keys: Set<String> = []
    /// Whether no record follows the last entry.
    private var isComplete = true
    /// The number of records to show.
    private var limit: Int
    private var order = LiveOrder.arrival
    private var lastVersion = 0

    init(_ plan: LiveQueryPlan) {
        self.plan = plan
        limit = plan.limit ?? .max
        needsFetch = plan.limit != 0
    }

    /// The records to show, in order.
    var visible: ArraySlice<Entry> { entries.prefix(limit) }

    /// Marks the known part as possibly outdated, because events were missed.
    mutating func missedEvents() { needsFetch = plan.limit != 0 }

    /// Clears the result until it is fetched again.
    mutating func clear() { (entries, keys) = ([], []) }

    /// Applies the server's response to the plan's request.
    mutating func fetched(_ page: Paginated<JSONValue>) throws(FeathersError) {
        let old = Dictionary(entries.map { ($0.key, $0) }) { first, _ in first }
        var entries: [Entry] = []
        var keys: Set<String> = []
        for record in page.data {
            guard let key = plan.key(of: record) else {
                throw FeathersError(
                    .generalError,
                    "A live query needs records with an id: pass the name of the property if it is not 'id', such as '_id' for MongoDB")
            }
            guard keys.insert(key).inserted else { continue }
            if let known = old[key], known.record == record { entries.append(known) } else { entries.append(entry(key, record)) }
        }
        (self.entries, self.keys, needsFetch) = (entries, keys, false)
        limit = min(plan.limit ?? .max, page.limit.flatMap { $0 > 0 ? $0 : nil } ?? .max)
        let asked = plan.limit.map { $0 + plan.headroom } ?? .max
        isComplete = page.total.map { plan.skip + page.count >= $0 } ?? (page.count < asked)
        order = LiveOrder(plan.sorter, of: entries)
    }

    /// Applies an event of the service.
    /// - Returns: Whether the visible records may have changed.
    mutating func received(_ event: ServiceEvent) -> Bool {
        guard let key = plan.key(of: event.data) else { return false }
        let isMatch = event.name != .removed && plan.matcher.matches(event.data)
        if plan.skip > 0 { return receivedAfterSkipped(event, key, isMatch) }
        guard isMatch else { return keys.contains(key) && removed(key) }
        return keys.contains(key) ? changed(key, event.data) : appeared(key, event.data, isNew: event.name == .created)
    }

    /// Applies an event to a query with `$skip`. The skipped records are unknown, so only a record that keeps its index can be updated.
    private mutating func receivedAfterSkipped(_ event: ServiceEvent, _ key: String, _ isMatch: Bool) -> Bool {
        if isMatch, let index = index(of: key), order.keepsIndex(entries[index].record, event.data) {
            guard entries[index].record != event.data else { return false }
            entries[index] = entry(key, event.data)
            return index < limit
        }
        let wasAMatch = event.name == .created ? false : event.name != .removed || plan.matcher.matches(event.data)
        if isMatch || wasAMatch || keys.contains(key) { needsFetch = true }
        return false
    }

    private mutating func removed(_ key: String) -> Bool {
        guard let index = index(of: key) else { return false }
        entries.remove(at: index)
        keys.remove(key)
        refillIfShort()
        return index < limit
    }

    private mutating func changed(_ key: String, _ record: JSONValue) -> Bool {
        // An event may repeat what a fetch has already returned.
        guard let index = index(of: key), entries[index].record != record else { return false }
        if order.keepsIndex(entries[index].record, record) {
            entries[index] = entry(key, record)
            return index < limit
        }
        guard case .sorted = order else {
            // The server's sort order cannot be reproduced locally.
            needsFetch = true
            return false
        }
        entries.remove(at: index)
        keys.remove(key)
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
            for entry in entries[greatest...] { keys.remove(entry.key) }
            entries.removeSubrange(greatest...)
            isComplete = false
        }
        return index < limit
    }

    /// - Returns: The record's index; nil if it belongs after the known part.
    private mutating func insert(_ key: String, _ record: JSONValue) -> Int? {
        let index = order.insertionIndex(for: record, in: entries)
        guard isComplete || index < entries.count else { return nil }
        entries.insert(entry(key, record), at: index)
        keys.insert(key)
        return index
    }

    private mutating func refillIfShort() {
        if entries.count < limit, !isComplete { needsFetch = true }
    }

    private mutating func entry(_ key: String, _ record: JSONValue) -> Entry {
        lastVersion += 1
        return Entry(key: key, record: record, version: lastVersion)
    }

    private func index(of key: String) -> Int? { keys.contains(key) ? entries.firstIndex { $0.key == key } : nil }
}

/// The prepared form of a live query: the request to send, and how to match and place the records of events.
struct LiveQueryPlan: Sendable {
    /// The query to send. Its limit is higher than the one shown, it selects every property that sorting needs, and it sorts by the id last, which
    /// makes the order total.
    let request: Query
    /// The number of records that the query shows; nil if it has no limit.
    let limit: Int?
    /// The number of records fetched beyond the limit, so that few removals need a fetch.
    let headroom: Int
    /// The number of records before the first one shown.
    let skip: Int
    let matcher: QueryMatcher
    /// Nil if the query does not sort.
    let sorter: QuerySorter?
    private let selection: QuerySelection?
    private let id: String

    /// - Parameter id: The name of the records' id property.
    /// - Throws: ``FeathersError/Code/badRequest`` naming the part of the query that cannot be evaluated locally.
    init(_ query: Query, id: String) throws(FeathersError) {
        self.id = id
        matcher = try QueryMatcher(query)
        selection = try QuerySelection(query, keeping: id)
        skip = try Self.count("$skip", in: query) ?? 0
        limit = try Self.count("$limit", in: query)
        headroom = limit.map { min(max($0 / 2, 1), 25, .max - $0) } ?? 0

        var request = query
        if let limit, limit > 0 { request.json["$limit"] = .integer(Int64(limit + headroom)) }
        if case .object(let sort)? = query.json["$sort"], sort[id] == nil { request = request.sorted(by: id) }
        sorter = try QuerySorter(request)
        self.request = request.selectingSortedProperties()
    }

    /// Returns the text of a record's id, so that `1` and `"1"` are the same record, as on the server; nil if the record has no id.
    func key(of record: JSONValue) -> String? { record[id].flatMap { ServiceID($0) }?.description }

    /// Returns the properties that the query selects.
    func select(_ record: JSONValue) -> JSONValue { selection?(record) ?? record }

    private static func count(_ name: String, in query: Query) throws(FeathersError) -> Int? {
        guard let value = query.json[name] else { return nil }
        let count = value.integer.map { Int(clamping: $0) } ?? value.string.flatMap { Int($0) }
        guard let count, count >= 0 else {
            throw FeathersError(.badRequest, "A live query needs a '\(name)' that is an integer, 0 or greater", execution: .neverSent)
        }
        return count
    }
}

/// The order of a live result, if it is known locally.
enum LiveOrder: Sendable {
    /// The query sorts, and the server's response is in the same order as a local sort.
    case sorted(QuerySorter)
    /// The query does not sort: new records come last.
    case arrival
    /// The query sorts, but the server's order differs from a local sort, for example because of another collation.
    case foreign(QuerySorter)

    init(_ sorter: QuerySorter?, of entries: [LiveWindow.Entry]) {
        guard let sorter else {
            self = .arrival
            return
        }
        let isSorted = zip(entries, entries.dropFirst()).allSatisfy { !sorter.areInIncreasingOrder($1.record, $0.record) }
        self = isSorted ? .sorted(sorter) : .foreign(sorter)
    }

    /// Returns whether a record that changes from `old` to `new` keeps its index.
    func keepsIndex(_ old: JSONValue, _ new: JSONValue) -> Bool {
        switch self {
        case .arrival: true
        case .sorted(let sorter), .foreign(let sorter): !sorter.areInIncreasingOrder(old, new) && !sorter.areInIncreasingOrder(new, old)
        }
    }

    /// Returns the index at which to insert a record in this order.
    func insertionIndex(for record: JSONValue, in entries: [LiveWindow.Entry]) -> Int {
        guard case .sorted(let sorter) = self else { return entries.count }
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if sorter.areInIncreasingOrder(record, entries[middle].record) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
