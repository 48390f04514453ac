public import Foundation

/// A condition on a property: equality or one of Feathers' operators.
///
/// ## Topics
///
/// ### Equality
/// - ``equals(_:)-(QueryValue)``
/// - ``notEquals(_:)-(QueryValue)``
///
/// ### Order
/// - ``lessThan(_:)``
/// - ``lessThanOrEqual(_:)``
/// - ``greaterThan(_:)``
/// - ``greaterThanOrEqual(_:)``
///
/// ### Lists
/// - ``isIn(_:)-(Values)``
/// - ``isNotIn(_:)-(Values)``
///
/// ### Operators of a service
/// - ``custom(_:_:)-(_,QueryValue)``
public struct QueryCondition: Sendable, Hashable {
    /// The operator, such as `$gt`; nil for equality.
    let `operator`: String?
    let value: JSONValue
    /// The dates in the value, if it contains only dates. Next to a coding key, they are written in the service's
    /// format.
    let dates: [Date]?

    private init(_ operator: String?, _ value: JSONValue, dates: [Date]? = nil) {
        (self.operator, self.value, self.dates) = (`operator`, value, dates)
    }

    private init<Value: QueryValue>(_ operator: String?, comparingWith value: Value) {
        // The types are compared first, because casts that fail take time (measured: a tenth of building a query).
        let isDates = Value.self == Date.self || Value.self == [Date].self
        self.init(
            `operator`, value.queryValue,
            dates: isDates ? (value as? Date).map { [$0] } ?? value as? [Date] : nil)
    }

    /// The condition in its raw form.
    var json: JSONValue {
        guard let `operator` else { return value }
        return .object([`operator`: value])
    }

    /// Returns the condition in a service's date format.
    /// - Throws: ``FeathersError/Code/badRequest`` that names the model, if the format cannot write a date.
    func written(with options: CodingOptions, for model: Any.Type) throws(FeathersError) -> QueryCondition {
        guard let dates else { return self }
        if case .iso8601 = options.dates { return self }
        do {
            let written = try dates.map { try options.encode($0) }
            let value = if case .array = value { JSONValue.array(written) } else { written.first ?? .null }
            return QueryCondition(`operator`, value)
        } catch {
            throw FeathersError(
                .badRequest, "A date of a query for \(model) cannot be written in the date format of its service",
                execution: .neverSent)
        }
    }
}

extension QueryCondition {
    /// Tests whether the property equals `value`. A list matches if one of its elements does. Null also matches a
    /// missing property.
    public static func equals(_ value: some QueryValue) -> Self { Self(nil, comparingWith: value) }
    /// Tests whether the property equals `value`, for JSON literals such as `nil`.
    public static func equals(_ value: JSONValue) -> Self { Self(nil, value) }
    /// Tests whether the property does not equal `value` (`$ne`).
    public static func notEquals(_ value: some QueryValue) -> Self { Self("$ne", comparingWith: value) }
    /// Tests whether the property does not equal `value` (`$ne`), for JSON literals such as `nil`.
    public static func notEquals(_ value: JSONValue) -> Self { Self("$ne", value) }
    /// Tests whether the property is greater than `value` (`$gt`).
    public static func greaterThan(_ value: some QueryValue) -> Self { Self("$gt", comparingWith: value) }
    /// Tests whether the property is greater than or equal to `value` (`$gte`).
    public static func greaterThanOrEqual(_ value: some QueryValue) -> Self { Self("$gte", comparingWith: value) }
    /// Tests whether the property is less than `value` (`$lt`).
    public static func lessThan(_ value: some QueryValue) -> Self { Self("$lt", comparingWith: value) }
    /// Tests whether the property is less than or equal to `value` (`$lte`).
    public static func lessThanOrEqual(_ value: some QueryValue) -> Self { Self("$lte", comparingWith: value) }

    /// Tests whether the property equals one of `values` (`$in`).
    ///
    /// A query string cannot express an empty list. Over REST, the call fails before it is sent.
    public static func isIn<Values: Sequence>(_ values: Values) -> Self where Values.Element: QueryValue {
        Self("$in", comparingWith: Array(values))
    }

    /// Tests whether the property equals one of `values` (`$in`), for literals of mixed types.
    public static func isIn(_ values: [JSONValue]) -> Self { Self("$in", .array(values)) }

    /// Tests whether the property equals none of `values` (`$nin`).
    ///
    /// A query string cannot express an empty list. Over REST, the call fails before it is sent.
    public static func isNotIn<Values: Sequence>(_ values: Values) -> Self where Values.Element: QueryValue {
        Self("$nin", comparingWith: Array(values))
    }

    /// Tests whether the property equals none of `values` (`$nin`), for literals of mixed types.
    public static func isNotIn(_ values: [JSONValue]) -> Self { Self("$nin", .array(values)) }
    /// Applies a custom operator, such as `.custom("$regex", "^a")`. The service must allow it.
    public static func custom(_ operator: String, _ value: some QueryValue) -> Self {
        Self(`operator`, comparingWith: value)
    }
    /// Applies a custom operator, for JSON literals.
    public static func custom(_ operator: String, _ value: JSONValue) -> Self { Self(`operator`, value) }
}

/// A value that conditions can compare with: strings, numbers, booleans, dates, ids, JSON, and arrays of them.
///
/// Conform your own types to use them in conditions.
public protocol QueryValue: Sendable {
    /// The value in the form that is sent.
    var queryValue: JSONValue { get }
}

extension JSONValue {
    /// Creates JSON from a string, number, boolean, date, UUID, URL, id, or an array of them; nil is JSON null.
    ///
    /// Use it for variables in a literal: `["name": JSONValue(name), "age": JSONValue(age)]`. Swift converts literals
    /// to JSON, but not variables. For models, use ``JSONValue/init(encoding:with:)``.
    public init(_ value: (some QueryValue)?) { self = value?.queryValue ?? .null }
}

extension QueryValue where Self: RawRepresentable, RawValue: QueryValue {
    /// The raw value as JSON. An enumeration only needs to declare its conformance to ``QueryValue``.
    public var queryValue: JSONValue { rawValue.queryValue }
}

extension JSONValue: QueryValue { public var queryValue: JSONValue { self } }
extension String: QueryValue { public var queryValue: JSONValue { .string(self) } }
extension Bool: QueryValue { public var queryValue: JSONValue { .bool(self) } }
extension Double: QueryValue { public var queryValue: JSONValue { .number(self) } }
extension Float: QueryValue { public var queryValue: JSONValue { JSONValue(float: self) } }

extension QueryValue where Self: BinaryInteger {
    /// The integer as JSON.
    public var queryValue: JSONValue { JSONValue(integer: self) }
}

extension Int: QueryValue {}
extension Int8: QueryValue {}
extension Int16: QueryValue {}
extension Int32: QueryValue {}
extension Int64: QueryValue {}
extension UInt: QueryValue {}
extension UInt8: QueryValue {}
extension UInt16: QueryValue {}
extension UInt32: QueryValue {}
extension UInt64: QueryValue {}
extension Int128: QueryValue {}
extension UInt128: QueryValue {}

extension Decimal: QueryValue {
    /// The decimal as JSON; null for NaN.
    public var queryValue: JSONValue { JSONValue(decimal: self) ?? .null }
}

extension Array: QueryValue where Element: QueryValue { public var queryValue: JSONValue { .array(map(\.queryValue)) } }

extension URL: QueryValue { public var queryValue: JSONValue { .string(absoluteString) } }

extension UUID: QueryValue {
    /// The UUID in lowercase, as JavaScript writes it.
    public var queryValue: JSONValue { .string(lowercaseString) }
}

extension Date: QueryValue {
    /// The date in JavaScript's format, such as `2024-01-02T03:04:05.678Z`; null outside the range of JavaScript's
    /// dates.
    public var queryValue: JSONValue { javaScriptText.map { .string($0) } ?? .null }
}

extension Date {
    /// The date in the format of JavaScript's `toISOString`: UTC with milliseconds; nil outside the range of
    /// JavaScript's dates.
    ///
    /// Rounded to milliseconds rather than truncated: a date parsed from `….678Z` must be sent as `….678Z`, although
    /// its binary fraction is lower.
    package var javaScriptText: String? {
        ISO8601Timestamp(milliseconds: (timeIntervalSince1970 * 1000).rounded()).text()
    }
}
