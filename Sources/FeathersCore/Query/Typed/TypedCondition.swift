import Foundation

/// What a property of a known type must fulfil; see ``Query/Condition``.
public struct TypedCondition<Value: QueryValue>: Sendable {
    let dated: DatedCondition

    /// The condition as an untyped query has it.
    public var untyped: Query.Condition { dated.untyped }

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

    /// An operator beyond Feathers' own, which the service must allow.
    public static func custom(_ operator: String, _ value: some QueryValue) -> Self { Self(.custom(`operator`, value)) }
}

extension QueryValue where Self: RawRepresentable, RawValue: QueryValue {
    /// The raw value: an enumeration becomes usable in conditions by conforming to ``QueryValue``, with nothing to write.
    public var queryValue: JSONValue { rawValue.queryValue }
}
