// The first step of a typed query. Limits have none: as a first step they say nothing about the model.
extension TypedQuery {
    /// A query with one condition on a property.
    public static func `where`<Value: QueryValue>(_ property: any KeyPath<Model, Value> & Sendable, _ condition: TypedCondition<Value>)
        -> Self
    {
        Self().where(property, condition)
    }

    /// A query with one condition on a property that may be missing.
    public static func `where`<Value: QueryValue>(_ property: any KeyPath<Model, Value?> & Sendable, _ condition: TypedCondition<Value>)
        -> Self
    {
        Self().where(property, condition)
    }

    /// A query for records whose property equals `value`.
    public static func `where`<Value: QueryValue>(_ property: any KeyPath<Model, Value> & Sendable, _ value: Value) -> Self {
        Self().where(property, value)
    }

    /// A query for records whose property equals `value`; nil also matches where it is missing.
    public static func `where`<Value: QueryValue>(_ property: any KeyPath<Model, Value?> & Sendable, _ value: Value?) -> Self {
        Self().where(property, value)
    }

    /// A query for records whose list contains `element`.
    public static func `where`<Element: QueryValue>(_ property: any KeyPath<Model, [Element]> & Sendable, contains element: Element) -> Self
    {
        Self().where(property, contains: element)
    }

    /// A query for records that match at least one of `queries` (`$or`).
    public static func any(of queries: [Self]) -> Self { Self().any(of: queries) }

    /// A query for records that match each of `queries` (`$and`).
    public static func all(of queries: [Self]) -> Self { Self().all(of: queries) }

    /// A query that sorts by a property (`$sort`).
    public static func sorted<Value: QueryValue>(
        by property: any KeyPath<Model, Value> & Sendable, _ direction: Query.SortDirection = .ascending
    ) -> Self {
        Self().sorted(by: property, direction)
    }

    /// A query that sorts by a property that may be missing (`$sort`).
    public static func sorted<Value: QueryValue>(
        by property: any KeyPath<Model, Value?> & Sendable, _ direction: Query.SortDirection = .ascending
    ) -> Self {
        Self().sorted(by: property, direction)
    }
}
