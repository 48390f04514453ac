// Static members start a query, as in `messages.find(.where("age", .greaterThan(18)).limit(10))`. Those with strings
// are disfavored, so that the compiler explains a mistyped coding key as such.

extension Query {
    /// Creates a query with one condition on a property.
    @_disfavoredOverload
    public static func `where`(_ property: String, _ condition: Condition) -> Query {
        Query().where(property, condition)
    }

    /// Creates a query for records whose property equals `value`, or whose list contains it.
    @_disfavoredOverload
    public static func `where`(_ property: String, _ value: some QueryValue) -> Query { Query().where(property, value) }

    /// Creates a query for records whose property equals `value`, for JSON literals such as `nil`.
    @_disfavoredOverload
    public static func `where`(_ property: String, _ value: JSONValue) -> Query { Query().where(property, value) }

    /// Unavailable: explains which values a condition can compare with.
    @available(
        *, unavailable, message: "Declare the conformance of the value's type to QueryValue, and unwrap an optional"
    )
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

    /// Creates a query that selects properties of each record (`$select`).
    public static func selecting(_ properties: [String]) -> Query { Query().selecting(properties) }

    /// Creates a query with one key set.
    public static func setting(_ key: String, _ value: JSONValue) -> Query { Query().setting(key, value) }
}

extension Query where Model: Queryable {
    /// Creates a query with one condition on the property of a coding key.
    public static func `where`(_ key: Model.QueryKeys, _ condition: Condition) -> Query {
        Query().where(key, condition)
    }

    /// Creates a query for records whose property equals `value`, or whose list contains it.
    public static func `where`(_ key: Model.QueryKeys, _ value: some QueryValue) -> Query { Query().where(key, value) }

    /// Creates a query for records whose property equals `value`, for JSON literals such as `nil`.
    public static func `where`(_ key: Model.QueryKeys, _ value: JSONValue) -> Query { Query().where(key, value) }

    /// Unavailable: explains which values a condition can compare with.
    @available(
        *, unavailable, message: "Declare the conformance of the value's type to QueryValue, and unwrap an optional"
    )
    @_disfavoredOverload
    public static func `where`(_ key: Model.QueryKeys, _ value: some Encodable) -> Query { Query() }

    /// Creates a query that sorts by the property of a coding key (`$sort`).
    public static func sorted(by key: Model.QueryKeys, _ direction: SortDirection = .ascending) -> Query {
        Query().sorted(by: key, direction)
    }

    /// Creates a query that selects the properties of coding keys of each record (`$select`).
    public static func selecting(_ keys: Model.QueryKeys...) -> Query {
        keys.reduce(Query()) { $0.selecting($1) }
    }
}

// The same for a query without a model. Without them, `let adults = Query.where("age", .greaterThan(18))` would not
// compile, because nothing says what `Model` is.
extension Query where Model == JSONValue {
    /// Creates a query from JSON in Feathers' notation, for anything that the methods do not support.
    public init(_ json: JSONObject = JSONObject()) { self.init(raw: json) }

    /// Creates a query with one condition on a property.
    public static func `where`(_ property: String, _ condition: Condition) -> Query {
        Query().where(property, condition)
    }

    /// Creates a query for records whose property equals `value`, or whose list contains it.
    public static func `where`(_ property: String, _ value: some QueryValue) -> Query { Query().where(property, value) }

    /// Creates a query for records whose property equals `value`, for JSON literals such as `nil`.
    public static func `where`(_ property: String, _ value: JSONValue) -> Query { Query().where(property, value) }

    /// Unavailable: explains which values a condition can compare with.
    @available(
        *, unavailable, message: "Declare the conformance of the value's type to QueryValue, and unwrap an optional"
    )
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

    /// Creates a query that selects properties of each record (`$select`).
    public static func selecting(_ properties: [String]) -> Query { Query().selecting(properties) }

    /// Creates a query with one key set.
    public static func setting(_ key: String, _ value: JSONValue) -> Query { Query().setting(key, value) }
}
