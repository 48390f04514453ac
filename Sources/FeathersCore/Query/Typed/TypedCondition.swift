/// What a property of a known type must fulfil; see ``Query/Condition``.
public struct TypedCondition<Value: QueryValue>: Sendable {
    /// The condition as an untyped query has it.
    public let untyped: Query.Condition

    /// The property equals `value`.
    public static func equals(_ value: Value) -> Self { Self(untyped: .equals(value)) }

    /// The property does not equal `value` (`$ne`).
    public static func isNot(_ value: Value) -> Self { Self(untyped: .isNot(value)) }

    /// The property is greater than `value` (`$gt`).
    public static func greaterThan(_ value: Value) -> Self { Self(untyped: .greaterThan(value)) }

    /// The property is greater than or equal to `value` (`$gte`).
    public static func isAtLeast(_ value: Value) -> Self { Self(untyped: .isAtLeast(value)) }

    /// The property is less than `value` (`$lt`).
    public static func lessThan(_ value: Value) -> Self { Self(untyped: .lessThan(value)) }

    /// The property is less than or equal to `value` (`$lte`).
    public static func isAtMost(_ value: Value) -> Self { Self(untyped: .isAtMost(value)) }

    /// The property equals one of `values` (`$in`).
    public static func isIn(_ values: some Sequence<Value>) -> Self { Self(untyped: .isIn(Array(values))) }

    /// The property equals none of `values` (`$nin`).
    public static func isNotIn(_ values: some Sequence<Value>) -> Self { Self(untyped: .isNotIn(Array(values))) }

    /// An operator beyond Feathers' own, which the service must allow.
    public static func custom(_ operator: String, _ value: some QueryValue) -> Self { Self(untyped: .custom(`operator`, value)) }
}

extension QueryValue where Self: RawRepresentable, RawValue: QueryValue {
    /// The raw value: an enumeration becomes usable in conditions by conforming to ``QueryValue``, with nothing to write.
    public var queryValue: JSONValue { rawValue.queryValue }
}
