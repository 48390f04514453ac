/// A Feathers query: conditions, sorting, paging and selection.
///
/// ```swift
/// messages.find(
///     .where(.likes, .greaterThan(18)).sorted(by: .createdAt, .descending).limit(10))
/// messages.find(.where("address.city", "Rome").selecting("id", "text"))
/// ```
///
/// You name properties by the coding keys of a model that conforms to ``Queryable``, or by strings. A key is sent under
/// its name in the key format of the service's ``CodingOptions``, which also format the dates that you compare a key
/// with. A string is sent unchanged, and so is the date next to it, in JavaScript's format.
///
/// Each method returns a new query. Conditions are sent in the order in which you add them.
///
/// ## Topics
///
/// ### Conditions
/// - ``where(_:_:)-5zssb``
/// - ``any(of:)-method``
/// - ``all(of:)-method``
/// - ``Condition``
///
/// ### Sorting, paging and selection
/// - ``limit(_:)-method``
/// - ``skip(_:)-method``
/// - ``selecting(_:)-7pydz``
///
/// ### Anything else
/// - ``setting(_:_:)-method``
/// - ``json(coding:)``
public struct Query<Model>: Sendable {
    /// A condition on a property.
    public typealias Condition = QueryCondition

    private enum Content: Sendable {
        case json(JSONObject)
        /// The query has keys of a model, whose names depend on the codec of the service.
        case deferred(@Sendable (CodingOptions) throws(FeathersError) -> JSONObject)
    }

    private var content: Content

    /// Creates a query from JSON in Feathers' notation, for anything that the methods do not support.
    /// `Query(query.json)` is a query for a model with the conditions of a query for JSON.
    public init(_ json: JSONObject = JSONObject()) { self.init(raw: json) }

    init(raw json: JSONObject) { content = .json(json) }

    /// Whether the query has no conditions, sorting, paging or selection.
    public var isEmpty: Bool { if case .json(let json) = content { json.isEmpty } else { false } }

    /// Returns the query as JSON, exactly as it is sent.
    /// - Parameter coding: The codec of the service, which formats keys and dates. A codec of your own has no key
    ///   format: names are those of the coding keys.
    /// - Throws: ``FeathersError/Code/badRequest`` that names the model, if a date cannot be written in the codec's
    ///   format.
    public func json(coding: any JSONCodec) throws(FeathersError) -> JSONObject {
        switch content {
        case .json(let json): return json
        case .deferred(let write): return try write(coding as? CodingOptions ?? CodingOptions())
        }
    }

    /// Returns the query with names and dates written for a codec.
    package func written(for coding: @autoclosure () -> any JSONCodec) throws(FeathersError) -> Query<JSONValue> {
        if case .json(let json) = content { return Query<JSONValue>(json) }
        return Query<JSONValue>(try json(coding: coding()))
    }

    /// Returns the query after a change that needs no codec. It is made at once if the query is JSON already.
    @inline(__always)
    private func changing(_ change: @escaping @Sendable (inout JSONObject) -> Void) -> Query {
        var query = self
        switch content {
        case .json(var json):
            change(&json)
            query.content = .json(json)
        case .deferred:
            query = deferring { json, _ throws(FeathersError) in change(&json) }
        }
        return query
    }

    private func deferring(
        _ change: @escaping @Sendable (inout JSONObject, CodingOptions) throws(FeathersError) -> Void
    ) -> Query {
        var query = self
        let content = content
        query.content = .deferred { options throws(FeathersError) in
            var json: JSONObject
            switch content {
            case .json(let object): json = object
            case .deferred(let write): json = try write(options)
            }
            try change(&json, options)
            return json
        }
        return query
    }

    private func combining(
        _ queries: [Query], _ combine: @escaping @Sendable (inout JSONObject, [JSONObject]) -> Void
    ) -> Query {
        let objects = queries.compactMap { if case .json(let json) = $0.content { json } else { nil } }
        if objects.count == queries.count { return changing { combine(&$0, objects) } }
        return deferring { json, options throws(FeathersError) in
            var objects: [JSONObject] = []
            for query in queries { objects.append(try query.json(coding: options)) }
            combine(&json, objects)
        }
    }
}

extension Query where Model == JSONValue {
    /// The query as JSON, exactly as it is sent.
    public var json: JSONObject {
        get {
            // JSON has no coding keys, so nothing of its queries is ever deferred.
            guard case .json(let json) = content else { preconditionFailure("JSON has no coding keys") }
            return json
        }
        _modify {
            // Moved out, so that modifying it in place copies nothing.
            var json = json
            content = .json([:])
            defer { content = .json(json) }
            yield &json
        }
    }
}

extension Query: ExpressibleByDictionaryLiteral {
    /// Creates a query in Feathers' notation: `["age": ["$gt": 18], "$limit": 10]`. If a key is repeated, the last
    /// value wins.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(raw: JSONObject(elements)) }
}

extension Query: Equatable, Hashable where Model == JSONValue {
    /// Compares the meaning of queries: the order of conditions does not matter, but the order of sorting does.
    public static func == (left: Query, right: Query) -> Bool {
        guard left.json == right.json else { return false }
        guard let leftSort = left.json["$sort"]?.object, let rightSort = right.json["$sort"]?.object else {
            return true
        }
        return leftSort.elementsEqual(rightSort) { $0.key == $1.key }
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(json) }
}

extension Query {
    /// Adds a condition on a property. A path such as `"address.city"` names a nested property.
    ///
    /// Operators on one property are merged into one object, `{n: {$gt: 1, $lt: 3}}`. Anything that object cannot
    /// express, such as an operator used twice or equality next to operators, is added to `$and`, so no condition
    /// replaces another.
    public func `where`(_ property: String, _ condition: Condition) -> Query {
        changing { $0.addCondition(condition.json, on: property) }
    }

    /// Adds the condition that a property equals `value`, or that a list contains it.
    public func `where`(_ property: String, _ value: some QueryValue) -> Query {
        self.where(property, .equals(value))
    }

    /// Adds the condition that a property equals `value`, for JSON literals. `nil` also matches a missing property.
    public func `where`(_ property: String, _ value: JSONValue) -> Query { self.where(property, .equals(value)) }

    /// Unavailable: explains which values a condition can compare with.
    @available(
        *, unavailable, message: "Declare the conformance of the value's type to QueryValue, and unwrap an optional"
    )
    @_disfavoredOverload
    public func `where`(_ property: String, _ value: some Encodable) -> Query { self }

    /// Adds the condition that at least one of `queries` matches (`$or`).
    ///
    /// A second group is added to `$and`, so that both must match. FeathersJS rejects `$and` inside `$or`, so
    /// alternatives are written without it where one object can express them.
    public func any(of queries: [Query]) -> Query { combining(queries) { $0.addAlternatives($1) } }

    /// Adds the condition that each of `queries` matches (`$and`).
    ///
    /// FeathersJS accepts `$and` only at the top level, unless the service lists it among its operators.
    public func all(of queries: [Query]) -> Query { combining(queries) { $0.requireEach(of: $1) } }

    /// Limits the result to `count` records (`$limit`). The service's maximum also applies. With 0, the result contains
    /// only the total.
    public func limit(_ count: Int) -> Query { setting("$limit", count.queryValue) }

    /// Skips the first `count` records (`$skip`).
    public func skip(_ count: Int) -> Query { setting("$skip", count.queryValue) }

    /// Sorts by a property (`$sort`). Additional properties sort the records that are equal in the earlier ones.
    ///
    /// If you name a property twice, it keeps its position and uses the later direction.
    public func sorted(by property: String, _ direction: SortDirection = .ascending) -> Query {
        changing { $0.setSort(by: property, direction) }
    }

    /// Selects properties of each record (`$select`), in addition to those already selected.
    ///
    /// Services always include the id.
    public func selecting(_ properties: String...) -> Query { selecting(properties) }

    /// Selects properties of each record (`$select`), in addition to those already selected.
    public func selecting(_ properties: [String]) -> Query { changing { $0.setSelect(properties) } }

    /// Sets a key of the query, for extensions that a service supports: `.setting("$populate", "user")`.
    ///
    /// This replaces the key's previous value.
    public func setting(_ key: String, _ value: JSONValue) -> Query { changing { $0[key] = value } }
}

extension Query where Model: Queryable {
    /// Adds a condition on the property of a coding key.
    public func `where`(_ key: Model.QueryKeys, _ condition: Condition) -> Query {
        let name = key.stringValue
        return deferring { json, options throws(FeathersError) in
            json.addCondition(
                try condition.written(with: options, for: Model.self).json, on: options.keys.key(of: name))
        }
    }

    /// Adds the condition that a property equals `value`, or that a list contains it.
    public func `where`(_ key: Model.QueryKeys, _ value: some QueryValue) -> Query { self.where(key, .equals(value)) }

    /// Adds the condition that a property equals `value`, for JSON literals. `nil` also matches a missing property.
    public func `where`(_ key: Model.QueryKeys, _ value: JSONValue) -> Query { self.where(key, .equals(value)) }

    /// Unavailable: explains which values a condition can compare with.
    @available(
        *, unavailable, message: "Declare the conformance of the value's type to QueryValue, and unwrap an optional"
    )
    @_disfavoredOverload
    public func `where`(_ key: Model.QueryKeys, _ value: some Encodable) -> Query { self }

    /// Sorts by the property of a coding key (`$sort`). Additional properties sort the records that are equal in the
    /// earlier ones.
    public func sorted(by key: Model.QueryKeys, _ direction: SortDirection = .ascending) -> Query {
        let name = key.stringValue
        return deferring { json, options in json.setSort(by: options.keys.key(of: name), direction) }
    }

    /// Selects the properties of coding keys of each record (`$select`), in addition to those already selected.
    ///
    /// Services always include the id. The model must be decodable without the other properties.
    public func selecting(_ keys: Model.QueryKeys...) -> Query {
        let names = keys.map(\.stringValue)
        return deferring { json, options in json.setSelect(names.map { options.keys.key(of: $0) }) }
    }
}

/// The direction of sorting. The raw value is sent to the server.
public enum SortDirection: Int64, Sendable {
    case ascending = 1
    case descending = -1
}
