public import FeathersCore

/// The mapping of conditions to query parameters, which JSON:API leaves to the server.
public struct FilterStrategy: Sendable {
    let items: @Sendable (JSONAPIFilter) throws -> [JSONAPIQueryItem]

    /// Creates a strategy for entire filters, including groups such as `$or`; see ``JSONAPIFilter/json``.
    /// - Parameter items: A closure that returns the parameters. A `FeathersError` that it throws is passed on to the
    ///   caller.
    public init(_ items: @escaping @Sendable (JSONAPIFilter) throws -> [JSONAPIQueryItem]) { self.items = items }

    /// Creates a strategy that maps each condition separately and rejects groups.
    public static func conditions(_ item: @escaping @Sendable (JSONAPIFilter.Condition) throws -> [JSONAPIQueryItem])
        -> FilterStrategy
    {
        FilterStrategy { try $0.conditions().flatMap(item) }
    }

    /// A strategy that writes `filter[name]=value`, and `filter[name]=a,b` for `$in`. Other conditions are rejected
    /// before the request is sent.
    public static let equality = FilterStrategy.conditions { condition in
        guard condition.operator == nil || condition.operator == "$in" else {
            throw condition.refusal(of: "filter[name]=value")
        }
        return [JSONAPIQueryItem("filter[\(condition.field)]", try condition.text())]
    }

    /// A strategy that writes `filter[name][gt]=value`, with the operator's name without its `$`. Equality has no
    /// operator.
    public static let operators = FilterStrategy.conditions { condition in
        let suffix = condition.operator.map { "[\($0.hasPrefix("$") ? String($0.dropFirst()) : $0)]" } ?? ""
        return [JSONAPIQueryItem("filter[\(condition.field)]\(suffix)", try condition.text())]
    }
}

/// The conditions of a query, for a ``FilterStrategy``.
public struct JSONAPIFilter: Sendable {
    /// The conditions in Feathers' syntax, with the names of properties.
    public let json: JSONObject
    /// The mapping between the names of properties and the names in documents.
    public let keys: KeyStyle

    /// One condition on one field.
    public struct Condition: Sendable, Hashable {
        /// The field's name, or its path through relationships, as in documents.
        public let field: String
        /// A Feathers operator such as `$gt`, or one of the server's own; nil for equality.
        public let `operator`: String?
        /// The value to compare the field with.
        public let value: JSONValue
    }

    /// Returns all conditions, each of which must be met.
    /// - Throws: `FeathersError.Code.badRequest` for groups that are not a plain list of conditions, such as `$or`.
    public func conditions() throws -> [Condition] { try conditions(in: json) }

    private func conditions(in json: JSONObject) throws -> [Condition] {
        try json.flatMap { name, value -> [Condition] in
            if name == "$and", let parts = value.array {
                return try parts.flatMap { try conditions(in: $0.object ?? [:]) }
            }
            guard !name.hasPrefix("$") else {
                throw FeathersError.unsendableQuery("this filter strategy does not support '\(name)'")
            }
            let field = keys.wirePath(of: name)
            guard case .object(let operators) = value else {
                return [Condition(field: field, operator: nil, value: value)]
            }
            return operators.map { Condition(field: field, operator: $0.key, value: $0.value) }
        }
    }
}

extension JSONAPIFilter.Condition {
    /// Returns the value as a parameter's text. The elements of an array are joined by commas, and null is `null`.
    /// - Throws: `FeathersError.Code.badRequest` for objects, nested arrays, and elements that contain a comma.
    public func text() throws -> String {
        guard let elements = value.array else { return try text(of: value) }
        return try elements.map { element in
            let text = try text(of: element)
            guard !text.contains(",") else { throw refused("an element with a comma, which separates elements") }
            return text
        }.joined(separator: ",")
    }

    private func text(of value: JSONValue) throws -> String {
        switch value {
        case .string(let text): return text
        case .null, .bool, .integer, .number, .decimal: return value.description
        case .array, .object: throw refused("an object or a nested array")
        }
    }

    private func refused(_ what: String) -> FeathersError {
        .unsendableQuery("the condition on '\(field)' contains \(what)")
    }

    fileprivate func refusal(of form: String) -> FeathersError {
        .unsendableQuery(
            "'\(self.operator ?? "")' on '\(field)' cannot be written as '\(form)'; use another filter strategy")
    }
}
