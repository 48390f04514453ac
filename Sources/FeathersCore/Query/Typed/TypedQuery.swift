/// A query for the records of a model, its properties named by key paths that the compiler checks.
///
/// ```swift
/// let recent = try await messages.find(.where(\.age, .greaterThan(18)).sorted(by: \.createdAt, .descending).limit(10))
/// ```
///
/// A property is called on the server what the model's decoding calls it (its `CodingKeys`), in the style of keys, and dates stand in the form,
/// that the service's ``CodingOptions`` say. What cannot be found out, the property of an enumeration that is not `CaseIterable` for example, is an
/// error of the call that names it; write such a condition in its raw form, which is sent as it is.
public struct TypedQuery<Model: Decodable & Sendable>: Sendable {
    /// Written down where it is used: only there is it known how the service codes models.
    private let write: @Sendable (CodingOptions) throws(FeathersError) -> Query

    /// A typed query that begins with an untyped one.
    public init(_ query: Query = Query()) {
        self.init { _ in query }
    }

    private init(_ write: @escaping @Sendable (CodingOptions) throws(FeathersError) -> Query) {
        self.write = write
    }

    /// The query as it is sent.
    /// - Parameter coding: how the service's models become JSON. A codec of your own tells no style of keys: names are those of the model's decoding.
    /// - Throws: ``FeathersError/Code/badRequest`` naming the model whose property's name on the server is not known, or whose date cannot be written.
    public func untyped(coding: any JSONCodec = CodingOptions()) throws(FeathersError) -> Query {
        try write(coding as? CodingOptions ?? CodingOptions())
    }

    /// Adds a condition on a property.
    public func `where`<Value: QueryValue>(_ property: any KeyPath<Model, Value> & Sendable, _ condition: TypedCondition<Value>) -> Self {
        adding(property, of: Value.self, condition)
    }

    /// Adds a condition on a property that may be missing.
    public func `where`<Value: QueryValue>(_ property: any KeyPath<Model, Value?> & Sendable, _ condition: TypedCondition<Value>) -> Self {
        adding(property, of: Value.self, condition)
    }

    /// Adds the condition that a property equals `value`.
    public func `where`<Value: QueryValue>(_ property: any KeyPath<Model, Value> & Sendable, _ value: Value) -> Self {
        self.where(property, .equals(value))
    }

    /// Adds the condition that a property equals `value`; nil also matches where it is missing.
    public func `where`<Value: QueryValue>(_ property: any KeyPath<Model, Value?> & Sendable, _ value: Value?) -> Self {
        guard let value else { return adding(property, of: Value.self) { query, name, _ in query.where(name, .null) } }
        return adding(property, of: Value.self, .equals(value))
    }

    /// Adds the condition that a list contains `element`.
    public func `where`<Element: QueryValue>(_ property: any KeyPath<Model, [Element]> & Sendable, contains element: Element) -> Self {
        adding(property, of: [Element].self, TypedCondition<Element>.equals(element))
    }

    /// Adds any other condition, in its raw form.
    public func `where`(_ property: String, _ condition: Query.Condition) -> Self {
        changing { query, _ in query.where(property, condition) }
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
        adding(property, of: Value.self) { query, name, _ in query.sorted(by: name, direction) }
    }

    /// Sorts by a property that may be missing (`$sort`).
    public func sorted<Value: QueryValue>(by property: any KeyPath<Model, Value?> & Sendable, _ direction: Query.SortDirection = .ascending)
        -> Self
    {
        adding(property, of: Value.self) { query, name, _ in query.sorted(by: name, direction) }
    }

    /// Asks for at most `count` records (`$limit`).
    public func limit(_ count: Int) -> Self { changing { query, _ in query.limit(count) } }

    /// Leaves out the first `count` records (`$skip`).
    public func skip(_ count: Int) -> Self { changing { query, _ in query.skip(count) } }

    private func adding<Root, Value: QueryValue, Compared: QueryValue>(
        _ property: any KeyPath<Model, Root> & Sendable, of type: Value.Type, _ condition: TypedCondition<Compared>
    ) -> Self {
        adding(property, of: type) { [condition = condition.dated] query, name, options throws(FeathersError) in
            query.where(name, try condition.written(with: options, for: Model.self))
        }
    }

    private func adding<Root, Value: QueryValue>(
        _ property: any KeyPath<Model, Root> & Sendable, of type: Value.Type,
        _ change: @escaping @Sendable (Query, String, CodingOptions) throws(FeathersError) -> Query
    ) -> Self {
        let path = Result { () throws(FeathersError) in try PropertyNames.path(of: property, type) }
        return changing { query, options throws(FeathersError) in
            try change(query, try path.get().map(options.keys.key(of:)).joined(separator: "."), options)
        }
    }

    private func changing(_ change: @escaping @Sendable (Query, CodingOptions) throws(FeathersError) -> Query) -> Self {
        Self { [write] options throws(FeathersError) in try change(try write(options), options) }
    }

    private func combined(with queries: [Self], _ combine: @escaping @Sendable (Query, [Query]) -> Query) -> Self {
        changing { query, options throws(FeathersError) in
            var untyped: [Query] = []
            for query in queries { untyped.append(try query.write(options)) }
            return combine(query, untyped)
        }
    }
}
