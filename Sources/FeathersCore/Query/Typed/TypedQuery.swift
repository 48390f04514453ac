import Foundation

/// A query for the records of a model, with properties named by key paths.
///
/// ```swift
/// let recent = try await messages.find(.where(\.age, .greaterThan(18)).sorted(by: \.createdAt, .descending).limit(10))
/// ```
///
/// A property's name on the server comes from the model's decoding (its `CodingKeys`), with the key format of the service's ``CodingOptions``,
/// which also format dates. If a name cannot be determined, for example for an enumeration that is not `CaseIterable`, the call that uses it
/// throws. Write such a condition in its raw form, with the property's name as a string.
public struct TypedQuery<Model: Decodable & Sendable>: Sendable {
    /// Evaluated by the call, since only there the service's coding options are known.
    private let write: @Sendable (CodingOptions) throws(FeathersError) -> Query

    /// Creates a typed query from an untyped one.
    public init(_ query: Query = Query()) { self.init { _ in query } }
    private init(_ write: @escaping @Sendable (CodingOptions) throws(FeathersError) -> Query) { self.write = write }

    /// The query as it is sent.
    /// - Parameter coding: the service's codec. Your own codec has no key format: names are those of the model's decoding.
    /// - Throws: ``FeathersError/Code/badRequest``, which names the model, if a property's name or a date's format cannot be determined.
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

    /// Adds the condition that a property equals `value`. Nil also matches a missing property.
    public func `where`<Value: QueryValue>(_ property: any KeyPath<Model, Value?> & Sendable, _ value: Value?) -> Self {
        guard let value else { return adding(property, of: Value.self) { query, name, _ in query.where(name, .null) } }
        return adding(property, of: Value.self, .equals(value))
    }

    /// Adds the condition that a list contains `element`.
    public func `where`<Element: QueryValue>(_ property: any KeyPath<Model, [Element]> & Sendable, contains element: Element) -> Self {
        adding(property, of: [Element].self, TypedCondition<Element>.equals(element))
    }

    /// Adds a condition in its raw form, which is sent unchanged.
    public func `where`(_ property: String, _ condition: Query.Condition) -> Self {
        changing { query, _ in query.where(property, condition) }
    }

    /// Adds the condition that at least one of `queries` matches (`$or`).
    public func any(of queries: [Self]) -> Self { combined(with: queries) { $0.any(of: $1) } }
    /// Adds the condition that each of `queries` matches (`$and`).
    public func all(of queries: [Self]) -> Self { combined(with: queries) { $0.all(of: $1) } }

    /// Sorts by a property (`$sort`). Further properties sort the records that are equal in those before.
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

    /// Limits the result to `count` records (`$limit`).
    public func limit(_ count: Int) -> Self { changing { query, _ in query.limit(count) } }
    /// Skips the first `count` records (`$skip`).
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

// Static members begin a typed query. `limit` and `skip` have none, since they do not tell the model.
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

    /// A query for records whose property equals `value`. Nil also matches a missing property.
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

/// A condition on a property of a known type; see ``Query/Condition``.
public struct TypedCondition<Value: QueryValue>: Sendable {
    let dated: DatedCondition

    private init(_ untyped: Query.Condition, _ values: [Value] = []) {
        dated = DatedCondition(untyped: untyped, dates: values.isEmpty ? nil : values as? [Date])
    }

    /// The property equals `value`.
    public static func equals(_ value: Value) -> Self { Self(.equals(value), [value]) }
    /// The property does not equal `value` (`$ne`).
    public static func isNot(_ value: Value) -> Self { Self(.isNot(value), [value]) }
    /// The property is greater than `value` (`$gt`).
    public static func greaterThan(_ value: Value) -> Self { Self(.greaterThan(value), [value]) }
    /// The property is greater than or equal to `value` (`$gte`).
    public static func isAtLeast(_ value: Value) -> Self { Self(.isAtLeast(value), [value]) }
    /// The property is less than `value` (`$lt`).
    public static func lessThan(_ value: Value) -> Self { Self(.lessThan(value), [value]) }
    /// The property is less than or equal to `value` (`$lte`).
    public static func isAtMost(_ value: Value) -> Self { Self(.isAtMost(value), [value]) }
    /// The property equals one of `values` (`$in`).
    public static func isIn(_ values: some Sequence<Value>) -> Self { Self(.isIn(Array(values)), Array(values)) }
    /// The property equals none of `values` (`$nin`).
    public static func isNotIn(_ values: some Sequence<Value>) -> Self { Self(.isNotIn(Array(values)), Array(values)) }
    /// A custom operator. The service must allow it.
    public static func custom(_ operator: String, _ value: some QueryValue) -> Self { Self(.custom(`operator`, value)) }
}

extension QueryValue where Self: RawRepresentable, RawValue: QueryValue {
    /// The raw value. An enumeration only needs to declare its conformance to ``QueryValue``.
    public var queryValue: JSONValue { rawValue.queryValue }
}

struct DatedCondition: Sendable {
    /// The condition, with dates as JavaScript writes them.
    let untyped: Query.Condition
    /// The dates to write in the service's format; nil if the condition compares with other values.
    let dates: [Date]?

    /// The condition in a service's date format.
    /// - Throws: ``FeathersError/Code/badRequest``, which names the model, if the format cannot write a date.
    func written(with options: CodingOptions, for model: Any.Type) throws(FeathersError) -> Query.Condition {
        guard let dates else { return untyped }
        if case .iso8601 = options.dates { return untyped }
        do {
            let written = try dates.map { try options.encode($0) }
            let value = if case .array = untyped.value { JSONValue.array(written) } else { written.first ?? .null }
            return untyped.operator.map { .custom($0, value) } ?? .equals(value)
        } catch {
            throw FeathersError(
                .badRequest, "A date of a query for \(model) cannot be written as its service writes dates", execution: .neverSent)
        }
    }
}
