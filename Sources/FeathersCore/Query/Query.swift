/// A Feathers query: conditions, sorting, paging and selection.
///
/// ```swift
/// messages.find(.where("age", .greaterThan(18)).sorted(by: "name").limit(10).selecting("id", "text"))
/// ```
///
/// Each method returns a new query. Queries are sent in the order they were written.
public struct Query: Sendable {
    /// The query as JSON, exactly what is sent.
    public var json: JSONObject

    /// Creates a query from its JSON, for anything the builder has no method for.
    public init(_ json: JSONObject = JSONObject()) { self.json = json }

    /// Whether the query has no conditions, sorting, paging or selection.
    public var isEmpty: Bool { json.isEmpty }
}

extension Query: ExpressibleByDictionaryLiteral {
    /// Creates a query as Feathers writes it: `["age": ["$gt": 18], "$limit": 10]`. The last value of a repeated key wins.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { json = JSONObject(elements) }
}

extension Query: Hashable {
    /// Compares what the queries ask for: the order of conditions does not matter, the order of sorting does.
    public static func == (left: Query, right: Query) -> Bool {
        guard left.json == right.json else { return false }
        guard let leftSort = left.json["$sort"]?.object, let rightSort = right.json["$sort"]?.object else { return true }
        return leftSort.elementsEqual(rightSort) { $0.key == $1.key }
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(json) }
}

extension Query {
    /// Adds a condition on a property. A path such as `"address.city"` names a nested property.
    ///
    /// Operators on one property are merged into one object, `{n: {$gt: 1, $lt: 3}}`. What that object cannot express, such as
    /// an operator used twice or equality next to operators, is added to `$and`: no condition replaces another.
    public func `where`(_ property: String, _ condition: Condition) -> Query {
        var query = self
        query.add(condition, on: property)
        return query
    }

    /// Adds the condition that a property equals `value`.
    public func `where`(_ property: String, _ value: some QueryValue) -> Query { self.where(property, .equals(value)) }
    /// Adds the condition that a property equals `value`, for JSON literals such as `nil`.
    public func `where`(_ property: String, _ value: JSONValue) -> Query { self.where(property, .equals(value)) }

    private mutating func add(_ condition: Condition, on property: String) {
        guard let present = json[property] else {
            json[property] = condition.json
            return
        }
        if let `operator` = condition.operator, var operators = present.object, operators.holdsOperatorsOnly,
            operators[`operator`] == nil
        {
            operators[`operator`] = condition.value
            json[property] = .object(operators)
        } else {
            require([property: condition.json])
        }
    }

    mutating func require(_ conditions: JSONObject) {
        var elements: [JSONValue] = []
        if let present = json["$and"] {
            // A raw `$and` that is not a list is left for the server to refuse.
            elements = present.array ?? [["$and": present]]
        }
        elements.append(.object(conditions))
        json["$and"] = .array(elements)
    }
}

extension Query.Condition {
    fileprivate var json: JSONValue {
        guard let `operator` else { return value }
        return .object([`operator`: value])
    }
}

extension JSONObject {
    /// Whether this is an object such as `{$gt: 1, $lt: 3}`, which takes further operators.
    fileprivate var holdsOperatorsOnly: Bool { !isEmpty && allSatisfy { $0.key.hasPrefix("$") } }
}

extension Query {
    /// Adds the condition that at least one of `queries` matches (`$or`).
    ///
    /// A second group is added to `$and`, so that both must match.
    public func any(of queries: [Query]) -> Query {
        var query = self
        let alternatives = JSONValue.array(queries.map { .object($0.json) })
        if query.json["$or"] == nil {
            query.json["$or"] = alternatives
        } else {
            query.require(["$or": alternatives])
        }
        return query
    }

    /// Adds the condition that each of `queries` matches (`$and`).
    ///
    /// FeathersJS accepts `$and` only at the top level, unless the service lists it among its operators.
    public func all(of queries: [Query]) -> Query {
        var query = self
        if queries.isEmpty, query.json["$and"] == nil { query.json["$and"] = [] }
        for element in queries { query.require(element.json) }
        return query
    }

    /// Limits the result to `count` records (`$limit`). The service's maximum applies; 0 asks for the total only.
    public func limit(_ count: Int) -> Query { setting("$limit", count.queryValue) }
    /// Skips the first `count` records (`$skip`).
    public func skip(_ count: Int) -> Query { setting("$skip", count.queryValue) }

    /// Sorts by a property (`$sort`). Further properties sort the records that are equal in those before.
    ///
    /// A property named twice keeps its position and takes the later direction.
    public func sorted(by property: String, _ direction: SortDirection = .ascending) -> Query {
        var query = self
        var sort = json["$sort"]?.object ?? [:]
        sort[property] = .integer(direction.rawValue)
        query.json["$sort"] = .object(sort)
        return query
    }

    /// Selects properties of each record (`$select`), in addition to those selected before.
    ///
    /// Services always include the id.
    public func selecting(_ properties: String...) -> Query { selecting(properties) }

    /// Selects properties of each record (`$select`), in addition to those selected before.
    public func selecting(_ properties: [String]) -> Query {
        var query = self
        var selected = json["$select"].map { $0.array ?? [$0] } ?? []
        for property in properties where !selected.contains(.string(property)) {
            selected.append(.string(property))
        }
        query.json["$select"] = .array(selected)
        return query
    }

    /// Sets a key of the query, for what a service understands beyond Feathers: `.setting("$populate", "user")`.
    ///
    /// This replaces the key's value.
    public func setting(_ key: String, _ value: JSONValue) -> Query {
        var query = self
        query.json[key] = value
        return query
    }

    /// The direction of sorting. The raw value is what Feathers sends.
    public enum SortDirection: Int64, Sendable {
        case ascending = 1
        case descending = -1
    }
}

// Static members begin a query, as in `messages.find(.where("age", .greaterThan(18)).limit(10))`.
extension Query {
    /// A query with one condition on a property.
    public static func `where`(_ property: String, _ condition: Condition) -> Query {
        Query().where(property, condition)
    }

    /// A query for records whose property equals `value`.
    public static func `where`(_ property: String, _ value: some QueryValue) -> Query { Query().where(property, value) }
    /// A query for records whose property equals `value`, for JSON literals such as `nil`.
    public static func `where`(_ property: String, _ value: JSONValue) -> Query { Query().where(property, value) }
    /// A query for records that match at least one of `queries` (`$or`).
    public static func any(of queries: [Query]) -> Query { Query().any(of: queries) }
    /// A query for records that match each of `queries` (`$and`).
    public static func all(of queries: [Query]) -> Query { Query().all(of: queries) }
    /// A query for at most `count` records (`$limit`).
    public static func limit(_ count: Int) -> Query { Query().limit(count) }
    /// A query that skips the first `count` records (`$skip`).
    public static func skip(_ count: Int) -> Query { Query().skip(count) }

    /// A query that sorts by a property (`$sort`).
    public static func sorted(by property: String, _ direction: SortDirection = .ascending) -> Query {
        Query().sorted(by: property, direction)
    }

    /// A query for these properties of each record (`$select`).
    public static func selecting(_ properties: String...) -> Query { Query().selecting(properties) }
    /// A query with one key set.
    public static func setting(_ key: String, _ value: JSONValue) -> Query { Query().setting(key, value) }
}
