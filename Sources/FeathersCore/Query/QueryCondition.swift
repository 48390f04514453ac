extension Query {
    /// What a property must fulfil: equality, or one of Feathers' operators.
    public struct Condition: Sendable, Hashable {
        /// The operator as it is sent (`$gt`); nil for equality, which has none.
        public let `operator`: String?

        /// What the operator compares with.
        public let value: JSONValue

        private init(_ operator: String?, _ value: JSONValue) {
            self.operator = `operator`
            self.value = value
        }
    }
}

extension Query.Condition {
    /// The property equals `value`; a list matches when one of its elements does. Null also matches a missing property.
    public static func equals(_ value: some QueryValue) -> Self { Self(nil, value.queryValue) }

    /// The property equals `value`, for JSON literals such as `nil`.
    public static func equals(_ value: JSONValue) -> Self { Self(nil, value) }

    /// The property does not equal `value` (`$ne`).
    public static func isNot(_ value: some QueryValue) -> Self { Self("$ne", value.queryValue) }

    /// The property does not equal `value` (`$ne`), for JSON literals such as `nil`.
    public static func isNot(_ value: JSONValue) -> Self { Self("$ne", value) }

    /// The property is greater than `value` (`$gt`).
    public static func greaterThan(_ value: some QueryValue) -> Self { Self("$gt", value.queryValue) }

    /// The property is greater than or equal to `value` (`$gte`).
    public static func isAtLeast(_ value: some QueryValue) -> Self { Self("$gte", value.queryValue) }

    /// The property is less than `value` (`$lt`).
    public static func lessThan(_ value: some QueryValue) -> Self { Self("$lt", value.queryValue) }

    /// The property is less than or equal to `value` (`$lte`).
    public static func isAtMost(_ value: some QueryValue) -> Self { Self("$lte", value.queryValue) }

    /// The property equals one of `values` (`$in`).
    ///
    /// Over REST an empty list cannot be written and is refused before anything is sent.
    public static func isIn<Values: Sequence>(_ values: Values) -> Self where Values.Element: QueryValue {
        Self("$in", .array(values.map(\.queryValue)))
    }

    /// The property equals one of `values` (`$in`), for literals of mixed types.
    public static func isIn(_ values: [JSONValue]) -> Self { Self("$in", .array(values)) }

    /// The property equals none of `values` (`$nin`).
    ///
    /// Over REST an empty list cannot be written and is refused before anything is sent.
    public static func isNotIn<Values: Sequence>(_ values: Values) -> Self where Values.Element: QueryValue {
        Self("$nin", .array(values.map(\.queryValue)))
    }

    /// The property equals none of `values` (`$nin`), for literals of mixed types.
    public static func isNotIn(_ values: [JSONValue]) -> Self { Self("$nin", .array(values)) }

    /// An operator beyond Feathers' own, for example `.custom("$regex", "^a")`. The service must allow it.
    public static func custom(_ operator: String, _ value: some QueryValue) -> Self { Self(`operator`, value.queryValue) }

    /// An operator beyond Feathers' own, for JSON literals.
    public static func custom(_ operator: String, _ value: JSONValue) -> Self { Self(`operator`, value) }
}
