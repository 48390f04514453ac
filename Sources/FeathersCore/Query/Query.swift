/// A Feathers query: conditions, sorting, paging and selection.
///
/// ```swift
/// messages.find(.where("age", .greaterThan(18)).sorted(by: "name").limit(10).selecting("id", "text"))
/// ```
///
/// Each method returns a new query. Conditions are sent in the order in which you add them.
public struct Query: Sendable {
    /// The query as JSON, exactly as it is sent.
    public var json: JSONObject

    /// Creates a query from JSON, for anything the builder does not support.
    public init(_ json: JSONObject = JSONObject()) { self.json = json }

    /// Whether the query has no conditions, sorting, paging or selection.
    public var isEmpty: Bool { json.isEmpty }
}

extension Query: ExpressibleByDictionaryLiteral {
    /// Creates a query in Feathers' notation: `["age": ["$gt": 18], "$limit": 10]`. If a key is repeated, the last value wins.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { json = JSONObject(elements) }
}

extension Query: Hashable {
    /// Compares the meaning of queries: the order of conditions does not matter, but the order of sorting does.
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
    /// Operators on one property are merged into one object, `{n: {$gt: 1, $lt: 3}}`. Anything that object cannot express, such as
    /// an operator used twice or equality next to operators, is added to `$and`, so no condition replaces another.
    public func `where`(_ property: String, _ condition: Condition) -> Query {
        var query = self
        query.add(condition.json, on: property)
        return query
    }

    /// Adds the condition that a property equals `value`.
    public func `where`(_ property: String, _ value: some QueryValue) -> Query { self.where(property, .equals(value)) }
    /// Adds the condition that a property equals `value`, for JSON literals such as `nil`.
    public func `where`(_ property: String, _ value: JSONValue) -> Query { self.where(property, .equals(value)) }

    /// Unavailable: explains which values a condition can compare with.
    @available(*, unavailable, message: "Declare the conformance of the value's type to QueryValue, and unwrap an optional")
    @_disfavoredOverload
    public func `where`(_ property: String, _ value: some Encodable) -> Query { self }

    /// Adds a condition in its raw form to those on the property.
    mutating func add(_ condition: JSONValue, on property: String) {
        guard let present = json[property] else {
            json[property] = condition
            return
        }
        if condition == present { return }
        guard var operators = present.operators, let added = condition.operators,
            added.allSatisfy({ operators[$0.key] == nil })
        else {
            return require([property: condition])
        }
        for (name, value) in added { operators[name] = value }
        json[property] = .object(operators)
    }

    mutating func require(_ conditions: JSONObject) {
        var elements: [JSONValue] = []
        if let present = json["$and"] {
            // A raw `$and` that isn't a list is sent unchanged, so that the server rejects it.
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

extension JSONValue {
    /// The value if it is an object such as `{$gt: 1, $lt: 3}`, to which more operators can be added; nil otherwise.
    fileprivate var operators: JSONObject? {
        guard let object, !object.isEmpty, object.allSatisfy({ $0.key.hasPrefix("$") }) else { return nil }
        return object
    }
}

extension Query {
    /// Adds the condition that at least one of `queries` matches (`$or`).
    ///
    /// A second group is added to `$and`, so that both must match. FeathersJS rejects `$and` inside `$or`, so
    /// alternatives are written without it where one object can express them.
    public func any(of queries: [Query]) -> Query {
        var query = self
        let alternatives = JSONValue.array(queries.map { .object($0.withoutGroup.json) })
        if query.json["$or"] == nil {
            query.json["$or"] = alternatives
        } else {
            query.require(["$or": alternatives])
        }
        return query
    }

    /// The same conditions with those of `$and` beside the others, as far as one object can express them.
    private var withoutGroup: Query {
        guard let group = json["$and"]?.array, !group.isEmpty, group.allSatisfy({ $0.object != nil }) else {
            return self
        }
        var query = self
        query.json["$and"] = nil
        for case .object(let conditions) in group {
            for (key, condition) in conditions { query.add(condition, on: key) }
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

    /// Limits the result to `count` records (`$limit`). The service's maximum also applies. With 0, the result contains only the total.
    public func limit(_ count: Int) -> Query { setting("$limit", count.queryValue) }
    /// Skips the first `count` records (`$skip`).
    public func skip(_ count: Int) -> Query { setting("$skip", count.queryValue) }

    /// Sorts by a property (`$sort`). Additional properties sort the records that are equal in the earlier ones.
    ///
    /// If you name a property twice, it keeps its position and uses the later direction.
    public func sorted(by property: String, _ direction: SortDirection = .ascending) -> Query {
        var query = self
        var sort = json["$sort"]?.object ?? JSONObject()
        sort[property] = .integer(direction.rawValue)
        query.json["$sort"] = .object(sort)
        return query
    }

    /// Selects properties of each record (`$select`), in addition to those already selected.
    ///
    /// Services always include the id.
    public func selecting(_ properties: String...) -> Query { selecting(properties) }

    /// Selects properties of each record (`$select`), in addition to those already selected.
    public func selecting(_ properties: [String]) -> Query {
        var query = self
        var selected = json["$select"].map { $0.array ?? [$0] } ?? []
        for property in properties where !selected.contains(.string(property)) {
            selected.append(.string(property))
        }
        query.json["$select"] = .array(selected)
        return query
    }

    /// Sets a key of the query, for extensions that a service supports: `.setting("$populate", "user")`.
    ///
    /// This replaces the key's previous value.
    public func setting(_ key: String, _ value: JSONValue) -> Query {
        var query = self
        query.json[key] = value
        return query
    }

    /// The direction of sorting. The raw value is sent to the server.
    public enum SortDirection: Int64, Sendable {
        case ascending = 1
        case descending = -1
    }
}

// Static members start a query, as in `messages.find(.where("age", .greaterThan(18)).limit(10))`.
extension Query {
    /// Creates a query with one condition on a property.
    public static func `where`(_ property: String, _ condition: Condition) -> Query {
        Query().where(property, condition)
    }

    /// Creates a query for records whose property equals `value`.
    public static func `where`(_ property: String, _ value: some QueryValue) -> Query { Query().where(property, value) }
    /// Creates a query for records whose property equals `value`, for JSON literals such as `nil`.
    public static func `where`(_ property: String, _ value: JSONValue) -> Query { Query().where(property, value) }

    /// Unavailable: explains which values a condition can compare with.
    @available(*, unavailable, message: "Declare the conformance of the value's type to QueryValue, and unwrap an optional")
    @_disfavoredOverload
    public static func `where`(_ property: String, _ value: some Encodable) -> Query { Query() }
    /// Creates a query for records that match at least one of `queries` (`$or`).
    public static func any(of queries: [Query]) -> Query { Query().any(of: queries) }
    /// Creates a query for records that match each of `queries` (`$and`).
    public static func all(of queries: [Query]) -> Query { Query().all(of: queries) }
    /// Creates a query for at most `count` records (`$limit`).
    public static func limit(_ count: Int) -> Query { Query().limit(count) }
    /// Creates a query that skips the first `count` records (`$skip`).
    public static func skip(_ count: Int) -> Query { Query().skip(count) }

    /// Creates a query that sorts by a property (`$sort`).
    public static func sorted(by property: String, _ direction: SortDirection = .ascending) -> Query {
        Query().sorted(by: property, direction)
    }

    /// Creates a query that selects properties of each record (`$select`).
    public static func selecting(_ properties: String...) -> Query { Query().selecting(properties) }
    /// Creates a query with one key set.
    public static func setting(_ key: String, _ value: JSONValue) -> Query { Query().setting(key, value) }
}
