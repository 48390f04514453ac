import FeathersCore

/// What is known of a query's result: its first records in order, kept right by events. A state machine without I/O.
///
/// Of a result with a limit it knows some records more than are shown, so that most removals need no server. What it cannot know,
/// which record follows the last one it knows for example, it asks to be fetched.
struct LiveWindow: Sendable {
    struct Entry: Sendable {
        let key: LiveKey
        var record: JSONValue
        /// Tells two states of a record apart without comparing them.
        var version: Int
    }

    /// Whether the result must be fetched before it is right again.
    private(set) var needsFetch = true
    let plan: LiveQueryPlan
    /// The first records of the result, in order and without a hole.
    private var entries: [Entry] = []
    private var keys: Set<LiveKey> = []
    /// Whether nothing follows the last entry.
    private var isComplete = true
    /// How many records are shown.
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

    /// Events were missed: nothing is certain any more.
    mutating func missedEvents() { needsFetch = plan.limit != 0 }

    /// Takes the server's answer to the plan's request.
    mutating func fetched(_ page: Paginated<JSONValue>) throws(FeathersError) {
        let old = Dictionary(entries.map { ($0.key, $0) }) { first, _ in first }
        var entries: [Entry] = []
        var keys: Set<LiveKey> = []
        for record in page.data {
            guard let key = plan.key(of: record) else { throw FeathersError.noIdentity }
            guard keys.insert(key).inserted else { continue }
            if let known = old[key], known.record == record { entries.append(known) } else { entries.append(entry(key, record)) }
        }
        (self.entries, self.keys, needsFetch) = (entries, keys, false)
        limit = min(plan.limit ?? .max, page.limit.flatMap { $0 > 0 ? $0 : nil } ?? .max)
        let asked = plan.limit.map { $0 + plan.headroom } ?? .max
        isComplete = page.total.map { plan.skip + page.count >= $0 } ?? (page.count < asked)
        order = LiveOrder(plan.sorter, of: entries)
    }

    /// Takes an event of the service.
    /// - Returns: whether the visible records may have changed.
    mutating func received(_ event: ServiceEvent) -> Bool {
        guard let key = plan.key(of: event.data) else { return false }
        let isMatch = event.name != .removed && plan.matcher.matches(event.data)
        if plan.skip > 0 { return receivedBehindOthers(event, key, isMatch) }
        guard isMatch else { return keys.contains(key) && removed(key) }
        return keys.contains(key) ? changed(key, event.data) : appeared(key, event.data, isNew: event.name == .created)
    }

    /// Where records before the window are not known, only a record that stays in its place can be judged.
    private mutating func receivedBehindOthers(_ event: ServiceEvent, _ key: LiveKey, _ isMatch: Bool) -> Bool {
        if isMatch, let index = index(of: key), order.keepsPlace(entries[index].record, event.data) {
            guard entries[index].record != event.data else { return false }
            entries[index] = entry(key, event.data)
            return index < limit
        }
        let wasAMatch = event.name == .created ? false : event.name != .removed || plan.matcher.matches(event.data)
        if isMatch || wasAMatch || keys.contains(key) { needsFetch = true }
        return false
    }

    private mutating func removed(_ key: LiveKey) -> Bool {
        guard let index = index(of: key) else { return false }
        entries.remove(at: index)
        keys.remove(key)
        refillIfShort()
        return index < limit
    }

    private mutating func changed(_ key: LiveKey, _ record: JSONValue) -> Bool {
        // What a fetch has brought already, an event may tell once more.
        guard let index = index(of: key), entries[index].record != record else { return false }
        if order.keepsPlace(entries[index].record, record) {
            entries[index] = entry(key, record)
            return index < limit
        }
        guard case .sorted = order else {
            // The server sorts in a way not known here.
            needsFetch = true
            return false
        }
        entries.remove(at: index)
        keys.remove(key)
        let place = insert(key, record)
        refillIfShort()
        return min(index, place ?? index) < limit
    }

    private mutating func appeared(_ key: LiveKey, _ record: JSONValue, isNew: Bool) -> Bool {
        switch order {
        case .sorted: break
        // New records come last; where one that comes back stood before, only the server knows.
        case .arrival where isNew: break
        case .arrival, .foreign:
            needsFetch = true
            return false
        }
        guard let place = insert(key, record) else { return false }
        let greatest = limit == .max ? Int.max : limit + 2 * max(plan.headroom, 5)
        if entries.count > greatest {
            for entry in entries[greatest...] { keys.remove(entry.key) }
            entries.removeSubrange(greatest...)
            isComplete = false
        }
        return place < limit
    }

    /// - Returns: the record's place, or nil where it belongs behind all that is known.
    private mutating func insert(_ key: LiveKey, _ record: JSONValue) -> Int? {
        let place = order.place(for: record, in: entries)
        guard isComplete || place < entries.count else { return nil }
        entries.insert(entry(key, record), at: place)
        keys.insert(key)
        return place
    }

    private mutating func refillIfShort() {
        if entries.count < limit, !isComplete { needsFetch = true }
    }

    private mutating func entry(_ key: LiveKey, _ record: JSONValue) -> Entry {
        lastVersion += 1
        return Entry(key: key, record: record, version: lastVersion)
    }

    private func index(of key: LiveKey) -> Int? {
        keys.contains(key) ? entries.firstIndex { $0.key == key } : nil
    }
}

extension FeathersError {
    fileprivate static var noIdentity: FeathersError {
        FeathersError(
            .generalError, "A live query needs records that have an id: name its property where it is not 'id', such as MongoDB's '_id'")
    }
}
