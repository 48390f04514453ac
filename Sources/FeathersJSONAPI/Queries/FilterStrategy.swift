public import FeathersCore

/// How conditions become query parameters, which JSON:API leaves to the server.
public struct FilterStrategy: Sendable {
    let items: @Sendable (JSONAPIFilter) throws -> [JSONAPIQueryItem]

    /// A strategy of your own for whole filters, groups such as `$or` included: they stand in ``JSONAPIFilter/json``.
    /// - Parameter items: gives the parameters; a `FeathersError` it throws reaches the caller.
    public init(_ items: @escaping @Sendable (JSONAPIFilter) throws -> [JSONAPIQueryItem]) {
        self.items = items
    }

    /// A strategy of your own that writes each condition for itself; groups are refused.
    public static func conditions(
        _ item: @escaping @Sendable (JSONAPIFilter.Condition) throws -> [JSONAPIQueryItem]
    ) -> FilterStrategy {
        FilterStrategy { try $0.conditions().flatMap(item) }
    }

    /// `filter[name]=value`, and `filter[name]=a,b` for one of several values (`$in`). Everything else is refused before it is sent.
    public static let equality = FilterStrategy.conditions { condition in
        guard condition.operator == nil || condition.operator == "$in" else { throw condition.refusal(of: "filter[name]=value") }
        return [JSONAPIQueryItem("filter[\(condition.field)]", try condition.text())]
    }

    /// `filter[name][gt]=value`, the operator's name without its `$`; equality has none.
    public static let operators = FilterStrategy.conditions { condition in
        let suffix = condition.operator.map { "[\($0.hasPrefix("$") ? String($0.dropFirst()) : $0)]" } ?? ""
        return [JSONAPIQueryItem("filter[\(condition.field)]\(suffix)", try condition.text())]
    }
}

/// The conditions of a query, for a ``FilterStrategy``.
public struct JSONAPIFilter: Sendable {
    /// The conditions as Feathers writes them, names of properties as they were given.
    public let json: JSONObject
    /// How names follow from those of properties.
    public let keys: KeyStyle

    /// One condition on one field.
    public struct Condition: Sendable, Hashable {
        /// The field's name, or its path through relationships, as it stands in documents.
        public let field: String
        /// Feathers' operator (`$gt`), or one of the server's own; nil for equality.
        public let `operator`: String?
        /// What the field is compared with.
        public let value: JSONValue
    }

    /// All conditions, each of which must hold.
    /// - Throws: `FeathersError.Code.badRequest` for groups that are no plain list of conditions: `$or`.
    public func conditions() throws -> [Condition] {
        try Self.conditions(in: json, keys)
    }

    private static func conditions(in json: JSONObject, _ keys: KeyStyle) throws -> [Condition] {
        try json.flatMap { name, value -> [Condition] in
            if name == "$and", let parts = value.array {
                return try parts.flatMap { try conditions(in: $0.object ?? [:], keys) }
            }
            guard !name.hasPrefix("$") else {
                throw FeathersError(.badRequest, "Query not sent: this filter strategy has no form for '\(name)'", execution: .neverSent)
            }
            let field = keys.wirePath(of: name)
            guard case .object(let operators) = value else { return [Condition(field: field, operator: nil, value: value)] }
            return operators.map { Condition(field: field, operator: $0.key, value: $0.value) }
        }
    }
}

extension JSONAPIFilter.Condition {
    /// The value as a parameter's text: elements of an array joined by commas, null as `null`.
    /// - Throws: `FeathersError.Code.badRequest` for objects, for arrays in arrays, and for elements that hold a comma themselves.
    public func text() throws -> String {
        switch value {
        case .array(let elements):
            return try elements.map { element in
                let text = try plainText(element)
                guard !text.contains(",") else { throw refused("an element with a comma, which separates elements") }
                return text
            }.joined(separator: ",")
        default: return try plainText(value)
        }
    }

    private func plainText(_ value: JSONValue) throws -> String {
        switch value {
        case .string(let text): return text
        case .null, .bool, .integer, .number: return value.description
        case .array, .object: throw refused("something that is no plain value")
        }
    }

    private func refused(_ what: String) -> FeathersError {
        FeathersError(.badRequest, "Query not sent: the condition on '\(field)' holds \(what)", execution: .neverSent)
    }

    func refusal(of form: String) -> FeathersError {
        FeathersError(
            .badRequest, "Query not sent: '\(self.operator ?? "")' on '\(field)' has no form in '\(form)'; choose another filter strategy",
            execution: .neverSent)
    }
}
