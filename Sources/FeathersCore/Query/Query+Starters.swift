// The first step of a query, so that `messages.find(.where("age", .greaterThan(18)).limit(10))` reads as one sentence.
extension Query {
    /// A query with one condition on a property.
    public static func `where`(_ property: String, _ condition: Condition) -> Query {
        Query().where(property, condition)
    }

    /// A query for records whose property equals `value`.
    public static func `where`(_ property: String, _ value: some QueryValue) -> Query {
        Query().where(property, value)
    }

    /// A query for records whose property equals `value`, for JSON literals such as `nil`.
    public static func `where`(_ property: String, _ value: JSONValue) -> Query {
        Query().where(property, value)
    }

    /// A query for records that match at least one of `queries` (`$or`).
    public static func any(of queries: [Query]) -> Query {
        Query().any(of: queries)
    }

    /// A query for records that match each of `queries` (`$and`).
    public static func all(of queries: [Query]) -> Query {
        Query().all(of: queries)
    }

    /// A query for at most `count` records (`$limit`).
    public static func limit(_ count: Int) -> Query {
        Query().limit(count)
    }

    /// A query that leaves out the first `count` records (`$skip`).
    public static func skip(_ count: Int) -> Query {
        Query().skip(count)
    }

    /// A query that sorts by a property (`$sort`).
    public static func sorted(by property: String, _ direction: SortDirection = .ascending) -> Query {
        Query().sorted(by: property, direction)
    }

    /// A query for these properties of each record (`$select`).
    public static func selecting(_ properties: String...) -> Query {
        Query().selecting(properties)
    }

    /// A query for these properties of each record (`$select`).
    public static func selecting(_ properties: [String]) -> Query {
        Query().selecting(properties)
    }

    /// A query with one key set as it is.
    public static func setting(_ key: String, _ value: some QueryValue) -> Query {
        Query().setting(key, value)
    }

    /// A query with one key set as it is, for JSON literals.
    public static func setting(_ key: String, _ value: JSONValue) -> Query {
        Query().setting(key, value)
    }
}
