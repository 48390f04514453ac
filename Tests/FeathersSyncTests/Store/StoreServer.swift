import FeathersCore
import Foundation

@testable import FeathersSync

/// What a server or its network may do to those who follow it.
enum ServerTrait: String, Sendable {
    /// The app hears no events of its own writes.
    case muted
    /// Events have a property that results lack.
    case reshaped
    /// The transport has no events but those that it makes of the responses to own writes, as REST does.
    case noEvents
    /// Ids of removed records are used again.
    case reusedIDs
    /// Records are often equal to earlier states of themselves.
    case repeatingValues
    /// Pages overtake events.
    case overtaking
    /// The server executes a repeated write again.
    case noKeys
    case paginated
    /// Others create records like those that the app creates.
    case lookAlikes
    /// Records have a version, which the app knows.
    case versioned
    /// Events arrive late and twice.
    case disorderly
    /// Values of one property have more digits in the database than in JSON.
    case precise
}

/// A query, and what a server's or the app's hooks do to it.
struct StoreQuery: Sendable {
    let name: String
    let query: Query<JSONValue>
    var hooks = HookEffects()
    /// Whether the path has values for placeholders, of which events say nothing.
    var hasRoute = false

    /// Whether the client can tell which records the query asks for, so that queued writes have places.
    var hasPlaces: Bool { !skips && query.json["c"]?.object == nil }
    var skips: Bool { query.json["$skip"] != nil }
    /// Whether the server's order is the only one.
    var isSorted: Bool { query.json["$sort"] != nil }
    var limit: Int? { query.json["$limit"]?.integer.map { Int($0) } }
    var isShaped: Bool { hooks.changeResults || query.json["$select"] != nil }
    /// The query as it is sent, but for its limit.
    var request: Query<JSONValue> {
        var request = query
        if let sort = query.json["$sort"]?.object, sort["id"] == nil { request = request.sorted(by: "id") }
        if query.json["$select"] != nil { request = request.selecting("a", "c") }
        return request
    }

    static let odd = QueryOperator("$odd") { value, _ in (value?.integer ?? 0) % 2 == 1 }
    static let all = StoreQuery(name: "all", query: [:])
    static let examples: [StoreQuery] = [
        all,
        StoreQuery(name: "conditions", query: ["c": 1]),
        StoreQuery(name: "sorted", query: .sorted(by: "a", .descending)),
        StoreQuery(name: "sorted, equals", query: .sorted(by: "c")),
        StoreQuery(name: "conditions, sorted", query: .where("c", 0).sorted(by: "b")),
        StoreQuery(name: "limit", query: .sorted(by: "c").sorted(by: "id", .descending).limit(2)),
        StoreQuery(name: "limit, conditions", query: .where("c", 1).sorted(by: "b", .descending).limit(3)),
        StoreQuery(name: "limit, equals", query: .sorted(by: "c", .descending).limit(3)),
        StoreQuery(name: "limit, unsorted", query: .where("c", 0).limit(2)),
        StoreQuery(name: "skip", query: .sorted(by: "id").limit(2).skip(1)),
        StoreQuery(name: "unknown", query: ["c": ["$odd": 1], "$sort": ["b": 1]]),
        StoreQuery(name: "select", query: .where("c", 1).sorted(by: "a").limit(3).selecting("b")),
        StoreQuery(name: "hooks", query: .sorted(by: "b"), hooks: HookEffects(changeQueries: true)),
        StoreQuery(
            name: "hooks, limit", query: .sorted(by: "b").limit(2), hooks: HookEffects(changeQueries: true)),
        StoreQuery(name: "embeds", query: .sorted(by: "b"), hooks: HookEffects(changeResults: true)),
        StoreQuery(
            name: "embeds, limit", query: .where("c", 0).sorted(by: "id").limit(2),
            hooks: HookEffects(changeResults: true)),
    ]
}

/// A service that executes in the order in which it is asked to, and reports each change to all who see the record.
struct StoreServer {
    struct Result {
        let name: EventName
        let id: Int64
        let record: JSONValue
        let version: Int
    }

    static let users = ["ada", "bob"]

    let traits: [ServerTrait]
    /// Whether pages have totals. Those of a server that paginates always have.
    let hasTotals: Bool
    /// In the order of creation.
    private(set) var records: [(id: Int64, record: JSONValue)] = []
    /// The states of each record that has ever existed, with the versions that they began with; nil if removed.
    private(set) var history: [Int64: [(version: Int, record: JSONValue?)]] = [:]
    /// The ids of the records that have ever existed, in the order in which they were first created.
    private(set) var ids: [Int64] = []
    /// The results of the app's writes.
    private(set) var done: [UUID: Result] = [:]
    private(set) var events: [String: [ServiceEvent]] = [:]
    private var version = 0
    private var last: Int64 = 0
    /// The values of `a` with all their digits.
    private var precise: [Int64: JSONValue] = [:]

    init(_ traits: [ServerTrait], hasTotals: Bool) { (self.traits, self.hasTotals) = (traits, hasTotals) }

    subscript(id: Int64) -> JSONValue? { records.first { $0.id == id }?.record }

    func sees(_ record: JSONValue?, _ user: String) -> Bool {
        record.map { $0["owner"] == nil || $0["owner"] == .string(user) } ?? false
    }

    /// Executes a write.
    /// - Parameters:
    ///   - key: The key of one of the app's own writes, which is executed once, unless the server ignores keys.
    ///   - isRefused: Whether the server refuses it in any case.
    /// - Returns: Nil if the write is refused.
    mutating func execute(
        _ method: ServiceMethod, _ id: Int64?, _ data: JSONValue?, _ user: String, key: UUID? = nil,
        isRefused: Bool = false
    ) -> Result? {
        if let key, let result = done[key], !traits.contains(.noKeys) { return result }
        let old = id.flatMap { self[$0] }
        guard !isRefused, method == .create ? old == nil : sees(old, user) else { return nil }
        version += 1
        if id == nil { last += 1 }
        let id = id ?? last
        let name = EventName(endOf: method) ?? .patched
        var record = (method == .create ? ["c": 0] : old ?? [:]).applying(data)
        if method == .update { record = (data ?? [:]).applying(old?["owner"].map { ["owner": $0] }) }
        record["id"] = .integer(id)
        if traits.contains(.versioned), method != .remove { record["v"] = .integer(Int64(version)) }
        if traits.contains(.precise), let value = data?["a"]?.number {
            record["a"] = .number((value / 8).rounded(.down) + 0.5)
            // Otherwise, no property of the record would tell.
            if record["a"] != old?["a"] { precise[id] = .number(0.5 + value / 8) }
        }
        switch name {
        case .created: records.append((id, record))
        case .removed: records.removeAll { $0.id == id }
        default: records = records.map { $0.id == id ? (id, record) : $0 }
        }
        if history[id] == nil { ids.append(id) }
        history[id, default: []].append((version, name == .removed ? .none : record))
        if !traits.contains(.noEvents), key == nil || !traits.contains(.muted) {
            let told = traits.contains(.reshaped) ? record.setting("x", to: 1) : record
            let event = ServiceEvent(path: "records", name: name, data: told)
            for user in Self.users where sees(record, user) { events[user, default: []].append(event) }
        }
        let result = Result(name: name, id: id, record: record, version: version)
        if let key { done[key] = result }
        return result
    }

    /// Answers a request.
    /// - Parameter paginates: Whether the server's pages are limited, if it limits them at all.
    func answer(_ request: Query<JSONValue>, _ hooks: HookEffects, _ user: String, paginates: Bool = true) throws
        -> Page<JSONValue>
    {
        let request = hooks.changeQueries ? request.where("c", 1) : request
        let matcher = try QueryMatcher(request, operators: [StoreQuery.odd])
        let selection = try QuerySelection(request, keeping: "id")
        var found = records.filter { sees($0.record, user) }.map(digits).filter(matcher.matches)
        found = try QuerySorter(request)?.sorted(found) ?? found
        if !precise.isEmpty { found = found.compactMap { $0["id"]?.integer.flatMap { self[$0] } } }
        found = found.map { record in
            let record = hooks.changeResults ? record.setting("embedded", to: record["b"] ?? nil) : record
            return selection?(record) ?? record
        }
        let skip = Int(request.json["$skip"]?.integer ?? 0)
        var limit = request.json["$limit"]?.integer.map { Int($0) }
        let isPaginated = paginates && traits.contains(.paginated)
        if isPaginated { limit = min(limit ?? 3, 5) }
        let page = Array(found.dropFirst(skip).prefix(limit ?? .max))
        guard isPaginated || hasTotals else { return Page(data: page) }
        return Page(data: page, total: found.count, limit: limit, skip: skip)
    }

    /// Returns a record with all digits.
    private func digits(_ item: (id: Int64, record: JSONValue)) -> JSONValue {
        precise[item.id].map { item.record.setting("a", to: $0) } ?? item.record
    }

    /// Returns the number of all records that a request asks for.
    func matching(_ request: Query<JSONValue>, _ hooks: HookEffects, _ user: String) throws -> Int {
        let request = hooks.changeQueries ? request.where("c", 1) : request
        let matcher = try QueryMatcher(request, operators: [StoreQuery.odd])
        return records.count { sees($0.record, user) && matcher.matches($0.record) }
    }

    /// Returns what the server would answer after some writes.
    /// - Parameter grownLimit: The number of records that a list shows that has grown; nil for the query's own.
    func expected(_ query: StoreQuery, _ user: String, _ writes: [OutboxWrite], grownLimit: Int? = nil) throws
        -> [JSONValue]
    {
        var request = query.request
        if let grownLimit { request.json["$limit"] = .integer(Int64(grownLimit)) }
        guard !writes.isEmpty else {
            return try answer(request, query.hooks, user, paginates: grownLimit == nil).data
        }
        if query.hasPlaces {
            request.json["$limit"] = nil
            // A write may bring a record in, unless only the server can tell what it looks like there.
            if !query.isShaped, !query.hooks.changeQueries { request.json["c"] = nil }
        }
        var rows = try answer(request, query.hooks, user).data
        var removed: Set<String> = []
        for write in writes {
            let key = write.key(id: "id")
            if write.method == .create { removed.remove(key) }
            if write.method == .remove { removed.insert(key) }
            let index = rows.firstIndex { $0["id"].flatMap { ServiceID($0) }?.description == key }
            switch (write.method, index) {
            case (.create, nil) where query.hasPlaces:
                let id = write.data?["id"] ?? .string(key)
                rows.append((write.data ?? [:]).setting("id", to: id))
            case (.update, nil) where query.hasPlaces && !removed.contains(key):
                rows.append((write.data ?? [:]).setting("id", to: write.recordID?.json ?? nil))
            case (.update, let index?): rows[index] = (write.data ?? [:]).setting("id", to: rows[index]["id"] ?? nil)
            case (.patch, let index?): rows[index] = rows[index].applying(write.data)
            case (.remove, let index?): rows.remove(at: index)
            default: break
            }
        }
        guard query.hasPlaces else { return rows }
        let matcher = try QueryMatcher(query.query)
        rows = rows.filter(matcher.matches)
        return Array((try QuerySorter(query.request)?.sorted(rows) ?? rows).prefix(grownLimit ?? query.limit ?? .max))
    }
}

extension OutboxWrite {
    /// The key of the record that the write is about.
    func key(id: String) -> String {
        (recordID ?? data?[id].flatMap { ServiceID($0) })?.description ?? provisionalKey()
    }
}
