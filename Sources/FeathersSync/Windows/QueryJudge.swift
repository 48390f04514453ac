import FeathersCore

/// The prepared form of a live query: the request to send, and how to match and place the records of events.
struct QueryJudge: Sendable {
    /// The query to send. Its limit is higher than the one shown, it selects every property that conditions and sorting
    /// need, and it sorts by the id last, which makes the order total.
    let request: Query<JSONValue>
    /// The number of records that the query shows; nil if it has no limit.
    let limit: Int?
    /// The number of records fetched beyond the limit, so that few removals need a fetch.
    let headroom: Int
    /// The number of records before the first one shown.
    let skip: Int
    /// Nil if the query uses operators that cannot be evaluated locally.
    private let matcher: QueryMatcher?
    /// Operators at the top level of the query, such as `$search`, with their operands.
    private var recordTests: [(test: QueryOperator, operand: JSONValue)] = []
    /// Nil if the query does not sort.
    let sorter: QuerySorter?
    /// The sorters of the single properties, but the id.
    let sortersBeforeID: [QuerySorter]
    /// The name of the records' id property.
    let id: String
    /// The keys whose records the window has, if it is that of a relation.
    var keys: RelatedKeys?
    /// The value of the first sorted property at which a list around a record begins.
    var boundary: JSONValue?
    /// The key of the record around which the list is shown, if it is.
    var anchor: String?
    private let selection: QuerySelection?
    /// The query as the app has written it.
    private let query: Query<JSONValue>
    private let operators: [QueryOperator]
    /// Whether the query selects some properties only.
    var hasSelection: Bool { selection != nil }

    /// - Parameters:
    ///   - query: The query.
    ///   - id: The name of the records' id property.
    ///   - operators: Closures for operators that are not Feathers' own.
    /// - Throws: ``FeathersError/Code/badRequest`` naming the part of the query that is not valid.
    init(_ query: Query<JSONValue>, id: String, operators: [QueryOperator] = []) throws(FeathersError) {
        (self.id, self.query, self.operators) = (id, query, operators)
        var conditions = query
        for test in operators {
            guard let operand = query.json[test.name] else { continue }
            conditions.json[test.name] = nil
            recordTests.append((test, operand))
        }
        matcher = try? QueryMatcher(conditions, operators: operators)
        selection = try QuerySelection(query, keeping: id)
        skip = try Self.count("$skip", in: query) ?? 0
        limit = try Self.count("$limit", in: query)
        headroom = limit.map { min(max($0 / 2, 1), 25, .max - $0) } ?? 0

        var request = query
        if let limit, limit > 0 { request.json["$limit"] = .integer(Int64(limit + headroom)) }
        if case .object(let sort)? = query.json["$sort"], sort[id] == nil { request = request.sorted(by: id) }
        sorter = try QuerySorter(request, comparesMoments: true)
        sortersBeforeID = (request.json["$sort"]?.object ?? [:]).prefix { $0.key != id }.compactMap { name, direction in
            try? QuerySorter(["$sort": [name: direction]], comparesMoments: true)
        }
        self.request = request.selectingSortedProperties().selecting(conditionsOf: query.json)
    }

    /// Returns the same query with ids in place of keys; nil if it has no key with an id.
    func named(_ names: Names) -> QueryJudge? {
        guard let named = query.named(names) else { return nil }
        var judge = try? QueryJudge(named, id: id, operators: operators)
        judge?.keys = keys
        judge?.boundary = boundary
        judge?.anchor = anchor
        return judge
    }

    /// Whether the client can evaluate all conditions.
    var canMatch: Bool { matcher != nil }

    /// Whether the client can predict the result: it can evaluate all conditions, and nothing is skipped. If not, every
    /// event of the service may change the result.
    var canJudge: Bool { matcher != nil && skip == 0 }

    /// Returns whether a record meets the query's conditions; nil if only the server knows, because a date is in an
    /// unknown form, or because the list begins at the record's rounded value. False if the query cannot be evaluated locally.
    func judges(_ record: JSONValue) -> Bool? {
        guard let matcher, keys?.contain(record) ?? true else { return false }
        if hasUncertainSide(record) { return nil }
        let isMatch = matcher.judges(record)
        guard isMatch != false, recordTests.allSatisfy({ $0.test.matches(record, $0.operand) ?? false }) else {
            return false
        }
        return isMatch
    }

    /// Returns whether a record of any key meets the query's conditions for certain.
    func matchesWithoutKeys(_ record: JSONValue) -> Bool {
        var judge = self
        judge.keys = nil
        return judge.judges(record) == true
    }

    /// Returns whether a record meets the query's conditions, or may. False if the query cannot be evaluated locally.
    func matches(_ record: JSONValue) -> Bool { judges(record) ?? true }

    /// Returns the query to send for a number of records; nil for the query's own.
    func request(for count: Int?) -> Query<JSONValue> {
        guard let count, limit != 0 else { return request }
        var request = request
        request.json["$limit"] = .integer(Int64(count))
        return request
    }

    /// Returns the text of a record's id, so that `1` and `"1"` are the same record, as on the server; nil if the
    /// record has no id.
    func key(of record: JSONValue) -> String? { record[id].flatMap { ServiceID($0) }?.key }

    /// Returns the properties that the query selects.
    func select(_ record: JSONValue) -> JSONValue { selection?(record) ?? record }

    private static func count(_ name: String, in query: Query<JSONValue>) throws(FeathersError) -> Int? {
        guard let value = query.json[name] else { return nil }
        let count = value.integer.map { Int(clamping: $0) } ?? value.string.flatMap { Int($0) }
        guard let count, count >= 0 else {
            throw FeathersError(
                .badRequest, "A live query needs a '\(name)' that is an integer, 0 or greater", execution: .neverSent)
        }
        return count
    }
}

extension Query<JSONValue> {
    /// Returns the query with ids in place of keys; nil if it has no key with an id.
    func named(_ names: Names) -> Query? {
        guard !names.isEmpty, !isEmpty else { return nil }
        var missing: [Names.Missing] = []
        let named = names.translated(.object(json), &missing)
        return named == .object(json) ? nil : named.object.map { Query($0) }
    }

    /// Returns the query with the properties of conditions added to the selection, if any.
    fileprivate func selecting(conditionsOf object: JSONObject) -> Query {
        guard let select = json["$select"], !select.isNull else { return self }
        return object.reduce(self) { query, condition in
            if ["$or", "$and"].contains(condition.key) {
                return (condition.value.array ?? []).reduce(query) { $0.selecting(conditionsOf: $1.object ?? [:]) }
            }
            return condition.key.hasPrefix("$") ? query : query.selecting([String(condition.key.prefix { $0 != "." })])
        }
    }
}

/// The order of a live result, if it is known locally.
enum ResultOrder: Sendable {
    /// The query sorts, and the server's response is in the same order as a local sort.
    case sorted(QuerySorter)
    /// The query does not sort: new records come last.
    case arrival
    /// The query sorts, but the server's order differs from a local sort, for example because of another collation, or
    /// of dates in several forms. Then reports cause fetches.
    case foreign(QuerySorter)

    /// - Parameter isSorted: Whether the rows are in the order of a local sort.
    init(_ sorter: QuerySorter?, isSorted: Bool) {
        self = sorter.map { isSorted ? .sorted($0) : .foreign($0) } ?? .arrival
    }

    init(_ sorter: QuerySorter?, of rows: [ResultRow]) {
        guard let sorter else {
            self = .arrival
            return
        }
        let isSorted = zip(rows, rows.dropFirst()).allSatisfy { left, right in
            sorter.order(of: left.sortValue, { left.record[$0] }, and: right.sortValue) { right.record[$0] } <= 0
        }
        self.init(sorter, isSorted: isSorted)
    }

    var isSorted: Bool { if case .sorted = self { true } else { false } }
    var isForeign: Bool { if case .foreign = self { true } else { false } }

    /// Returns whether a record that changes from `old` to `new` keeps its index.
    func keepsIndex(_ old: JSONValue, _ new: JSONValue) -> Bool {
        switch self {
        case .arrival: true
        case .sorted(let sorter), .foreign(let sorter):
            isSame(sorter, old, new)
        }
    }

    /// Returns whether two records have the same values in this order. Two forms of one moment are not the same, because
    /// the server may sort them as text.
    private func isSame(_ sorter: QuerySorter, _ old: JSONValue, _ new: JSONValue) -> Bool {
        let (first, other) = (sorter.firstValue { old[$0] }, sorter.firstValue { new[$0] })
        return first == other && sorter.order(of: first, { old[$0] }, and: other) { new[$0] } == 0
    }

    /// Returns whether a row that replaces another one keeps its index.
    func keepsIndex(_ old: ResultRow, _ new: ResultRow) -> Bool {
        isSorted ? keepsIndex(old.record, new.record) : old.place == new.place
    }

    /// Returns the index at which to insert a record in this order. In a foreign order, it is approximate.
    /// - Parameter place: The place of its row, for a result that is not sorted.
    func insertionIndex(for record: JSONValue, at place: Int = .max, in rows: ResultRows) -> Int {
        switch self {
        case .arrival: return rows.partitionIndex { $0.place <= place }
        case .sorted(let sorter), .foreign(let sorter):
            let first = sorter.firstValue { record[$0] }
            return rows.partitionIndex { row in
                sorter.order(of: first, { record[$0] }, and: row.sortValue) { row.record[$0] } >= 0
            }
        }
    }

    /// Returns the index of a row, by a search in the order if possible.
    func index(of row: ResultRow, in rows: ResultRows) -> Int? {
        let index: Int
        switch self {
        case .sorted(let sorter):
            index = rows.partitionIndex { other in
                sorter.order(of: row.sortValue, { row.record[$0] }, and: other.sortValue) { other.record[$0] } > 0
            }
        case .arrival, .foreign: index = rows.partitionIndex { $0.place < row.place }
        }
        if index < rows.count, rows[index].version == row.version { return index }
        return rows.firstIndex { $0.version == row.version }
    }
}
