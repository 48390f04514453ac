import FeathersCore

/// A query as a live result needs it: what to ask the server for, and how to judge and place the records that events bring.
struct LiveQueryPlan: Sendable {
    /// What is fetched: the query with some records more than it shows, all properties sorting needs, and the id as the last
    /// property sorted by, so that records that are equal otherwise have one order.
    let request: Query
    /// How many records the query shows; nil where it does not say.
    let limit: Int?
    /// How many records beyond the limit are fetched, so that not every removal needs the server.
    let headroom: Int
    /// How many records come before those shown.
    let skip: Int
    let matcher: QueryMatcher
    /// Nil where the query does not sort.
    let sorter: QuerySorter?
    private let selection: QuerySelection?
    private let id: String

    /// - Parameter id: the name of the records' id property.
    /// - Throws: ``FeathersError/Code/badRequest`` naming what in the query cannot be judged on this side.
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

    /// Which record this is; nil for what has no id.
    func key(of record: JSONValue) -> LiveKey? {
        record[id].flatMap { ServiceID($0) }.map { LiveKey(description: $0.description) }
    }

    /// The properties the query selects.
    func select(_ record: JSONValue) -> JSONValue { selection?(record) ?? record }

    private static func count(_ name: String, in query: Query) throws(FeathersError) -> Int? {
        guard let value = query.json[name] else { return nil }
        let count = value.integer.map { Int(clamping: $0) } ?? value.string.flatMap { Int($0) }
        guard let count, count >= 0 else {
            throw FeathersError(.badRequest, "A live query needs a \(name) that is a whole number, 0 or more", execution: .neverSent)
        }
        return count
    }
}

/// The identity of a record: the text of its id, so that `1` and `"1"` are the same record, as on the server.
struct LiveKey: Hashable, Sendable, CustomStringConvertible {
    let description: String
}
