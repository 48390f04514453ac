/// A query for the records of a model, its properties named by key paths that the compiler checks.
///
/// ```swift
/// let recent = try await messages.find(.where(\.age, .greaterThan(18)).sorted(by: \.createdAt, .descending).limit(10))
/// ```
///
/// A property is called on the server what the model's decoding calls it (its `CodingKeys`). What cannot be found out, the property of an
/// enumeration that is not `CaseIterable` for example, is an error of the call that names it; write such a condition in its raw form.
public struct TypedQuery<Model: Decodable & Sendable>: Sendable {
    private var built: Result<Query, FeathersError>

    /// A typed query that begins with an untyped one.
    public init(_ query: Query = Query()) {
        built = .success(query)
    }

    /// The query as it is sent.
    /// - Throws: ``FeathersError/Code/badRequest`` naming the property whose name on the server is not known.
    public func untyped() throws(FeathersError) -> Query { try built.get() }

    /// Adds a condition on a property.
    public func `where`<Value: QueryValue>(_ property: any KeyPath<Model, Value> & Sendable, _ condition: TypedCondition<Value>) -> Self {
        adding(property, of: Value.self) { $0.where($1, condition.untyped) }
    }

    /// Adds a condition on a property that may be missing.
    public func `where`<Value: QueryValue>(_ property: any KeyPath<Model, Value?> & Sendable, _ condition: TypedCondition<Value>) -> Self {
        adding(property, of: Value.self) { $0.where($1, condition.untyped) }
    }

    /// Adds the condition that a property equals `value`.
    public func `where`<Value: QueryValue>(_ property: any KeyPath<Model, Value> & Sendable, _ value: Value) -> Self {
        self.where(property, .equals(value))
    }

    /// Adds the condition that a property equals `value`; nil also matches where it is missing.
    public func `where`<Value: QueryValue>(_ property: any KeyPath<Model, Value?> & Sendable, _ value: Value?) -> Self {
        adding(property, of: Value.self) { $0.where($1, value?.queryValue ?? .null) }
    }

    /// Adds the condition that a list contains `element`.
    public func `where`<Element: QueryValue>(_ property: any KeyPath<Model, [Element]> & Sendable, contains element: Element) -> Self {
        adding(property, of: [Element].self) { $0.where($1, element) }
    }

    /// Adds any other condition, in its raw form.
    public func `where`(_ property: String, _ condition: Query.Condition) -> Self {
        changing { $0.where(property, condition) }
    }

    /// Adds the condition that at least one of `queries` matches (`$or`).
    public func any(of queries: [Self]) -> Self {
        combined(with: queries) { $0.any(of: $1) }
    }

    /// Adds the condition that each of `queries` matches (`$and`).
    public func all(of queries: [Self]) -> Self {
        combined(with: queries) { $0.all(of: $1) }
    }

    /// Sorts by a property (`$sort`); sorting again sorts what the properties before left equal.
    public func sorted<Value: QueryValue>(by property: any KeyPath<Model, Value> & Sendable, _ direction: Query.SortDirection = .ascending)
        -> Self
    {
        adding(property, of: Value.self) { $0.sorted(by: $1, direction) }
    }

    /// Sorts by a property that may be missing (`$sort`).
    public func sorted<Value: QueryValue>(by property: any KeyPath<Model, Value?> & Sendable, _ direction: Query.SortDirection = .ascending)
        -> Self
    {
        adding(property, of: Value.self) { $0.sorted(by: $1, direction) }
    }

    /// Asks for at most `count` records (`$limit`).
    public func limit(_ count: Int) -> Self { changing { $0.limit(count) } }

    /// Leaves out the first `count` records (`$skip`).
    public func skip(_ count: Int) -> Self { changing { $0.skip(count) } }

    private func adding<Root, Value: QueryValue>(
        _ property: any KeyPath<Model, Root> & Sendable, of type: Value.Type, _ change: (Query, String) -> Query
    ) -> Self {
        changing { query throws(FeathersError) in
            change(query, try PropertyNames.name(of: property, type))
        }
    }

    private func changing(_ change: (Query) throws(FeathersError) -> Query) -> Self {
        var changed = self
        changed.built = Result { () throws(FeathersError) in try change(try built.get()) }
        return changed
    }

    private func combined(with queries: [Self], _ combine: (Query, [Query]) -> Query) -> Self {
        changing { query throws(FeathersError) in
            var untyped: [Query] = []
            for query in queries { untyped.append(try query.untyped()) }
            return combine(query, untyped)
        }
    }
}
