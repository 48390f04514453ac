/// A query for the records of a model, with properties named by its coding keys.
///
/// ```swift
/// let recent = try await messages.find(.where(.likes, .greaterThan(18)).sorted(by: .createdAt, .descending).limit(10))
/// ```
///
/// The model conforms to ``Queryable``. A property's name on the server is its key's, in the key format of the service's ``CodingOptions``,
/// which also format dates. Properties of nested objects, and those that the model lacks, have the raw form: `.where("address.city", "Rome")`.
public struct TypedQuery<Model: Decodable & Sendable>: Sendable {
    /// Evaluated by the call, since only there the service's coding options are known.
    private let write: @Sendable (CodingOptions) throws(FeathersError) -> Query

    /// Creates a typed query from an untyped one.
    public init(_ query: Query = Query()) { self.init { _ in query } }
    private init(_ write: @escaping @Sendable (CodingOptions) throws(FeathersError) -> Query) { self.write = write }

    /// The query as it is sent.
    /// - Parameter coding: the service's codec. Your own codec has no key format: names are those of the coding keys.
    /// - Throws: ``FeathersError/Code/badRequest``, which names the model, if a date cannot be written in the service's format.
    public func untyped(coding: any JSONCodec = CodingOptions()) throws(FeathersError) -> Query {
        try write(coding as? CodingOptions ?? CodingOptions())
    }

    /// Adds a condition in its raw form, which is sent unchanged.
    public func `where`(_ property: String, _ condition: Query.Condition) -> Self {
        changing { query, _ in query.where(property, condition) }
    }

    /// Adds the condition that at least one of `queries` matches (`$or`).
    public func any(of queries: [Self]) -> Self { combined(with: queries) { $0.any(of: $1) } }
    /// Adds the condition that each of `queries` matches (`$and`).
    public func all(of queries: [Self]) -> Self { combined(with: queries) { $0.all(of: $1) } }

    /// Limits the result to `count` records (`$limit`).
    public func limit(_ count: Int) -> Self { changing { query, _ in query.limit(count) } }
    /// Skips the first `count` records (`$skip`).
    public func skip(_ count: Int) -> Self { changing { query, _ in query.skip(count) } }

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

extension TypedQuery where Model: Queryable {
    /// Adds a condition on a property.
    public func `where`(_ key: Model.QueryKeys, _ condition: Query.Condition) -> Self {
        changing { query, options throws(FeathersError) in
            query.where(options.keys.key(of: key.stringValue), try condition.written(with: options, for: Model.self))
        }
    }

    /// Adds the condition that a property equals `value`, or that a list contains it.
    public func `where`(_ key: Model.QueryKeys, _ value: some QueryValue) -> Self { self.where(key, .equals(value)) }
    /// Adds the condition that a property equals `value`, for JSON literals. `nil` also matches a missing property.
    public func `where`(_ key: Model.QueryKeys, _ value: JSONValue) -> Self { self.where(key, .equals(value)) }

    /// Unavailable: explains which values a condition can compare with.
    @available(*, unavailable, message: "Declare the conformance of the value's type to QueryValue, and unwrap an optional")
    @_disfavoredOverload
    public func `where`(_ key: Model.QueryKeys, _ value: some Encodable) -> Self { self }

    /// Sorts by a property (`$sort`). Further properties sort the records that are equal in those before.
    public func sorted(by key: Model.QueryKeys, _ direction: Query.SortDirection = .ascending) -> Self {
        changing { query, options in query.sorted(by: options.keys.key(of: key.stringValue), direction) }
    }
}

// Static members begin a typed query. `limit` and `skip` have none, since they do not tell the model.
extension TypedQuery where Model: Queryable {
    /// A query with one condition on a property.
    public static func `where`(_ key: Model.QueryKeys, _ condition: Query.Condition) -> Self { Self().where(key, condition) }
    /// A query for records whose property equals `value`, or whose list contains it.
    public static func `where`(_ key: Model.QueryKeys, _ value: some QueryValue) -> Self { Self().where(key, value) }
    /// A query for records whose property equals `value`, for JSON literals. `nil` also matches a missing property.
    public static func `where`(_ key: Model.QueryKeys, _ value: JSONValue) -> Self { Self().where(key, value) }

    /// Unavailable: explains which values a condition can compare with.
    @available(*, unavailable, message: "Declare the conformance of the value's type to QueryValue, and unwrap an optional")
    @_disfavoredOverload
    public static func `where`(_ key: Model.QueryKeys, _ value: some Encodable) -> Self { Self() }

    /// A query that sorts by a property (`$sort`).
    public static func sorted(by key: Model.QueryKeys, _ direction: Query.SortDirection = .ascending) -> Self {
        Self().sorted(by: key, direction)
    }

    /// A query for records that match at least one of `queries` (`$or`).
    public static func any(of queries: [Self]) -> Self { Self().any(of: queries) }
    /// A query for records that match each of `queries` (`$and`).
    public static func all(of queries: [Self]) -> Self { Self().all(of: queries) }
}

extension Query.Condition {
    /// The condition in a service's date format.
    /// - Throws: ``FeathersError/Code/badRequest``, which names the model, if the format cannot write a date.
    fileprivate func written(with options: CodingOptions, for model: Any.Type) throws(FeathersError) -> Query.Condition {
        guard let dates else { return self }
        if case .iso8601 = options.dates { return self }
        do {
            let written = try dates.map { try options.encode($0) }
            let value = if case .array = value { JSONValue.array(written) } else { written.first ?? .null }
            return `operator`.map { .custom($0, value) } ?? .equals(value)
        } catch {
            throw FeathersError(
                .badRequest, "A date of a query for \(model) cannot be written in the date format of its service", execution: .neverSent)
        }
    }
}
