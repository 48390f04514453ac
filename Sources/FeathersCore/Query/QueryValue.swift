public import Foundation

/// What a condition can compare with: strings, numbers, booleans, dates, ids, JSON, and arrays of them.
///
/// Conform a type of your own to write it into conditions as it is.
public protocol QueryValue {
    /// The value as it is sent.
    var queryValue: JSONValue { get }
}

extension JSONValue: QueryValue {
    public var queryValue: JSONValue { self }
}

extension String: QueryValue {
    public var queryValue: JSONValue { .string(self) }
}

extension Bool: QueryValue {
    public var queryValue: JSONValue { .bool(self) }
}

extension Double: QueryValue {
    public var queryValue: JSONValue { .number(self) }
}

extension Float: QueryValue {
    public var queryValue: JSONValue { .number(Double(self)) }
}

extension QueryValue where Self: BinaryInteger {
    /// The integer; one beyond `Int64` becomes the number nearest to it, as JSON's numbers do.
    public var queryValue: JSONValue {
        Int64(exactly: self).map { .integer($0) } ?? .number(Double(self))
    }
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

extension Array: QueryValue where Element: QueryValue {
    public var queryValue: JSONValue { .array(map(\.queryValue)) }
}

extension UUID: QueryValue {
    /// The UUID in lower case, as JavaScript writes it.
    public var queryValue: JSONValue { .string(uuidString.lowercased()) }
}

extension Date: QueryValue {
    /// The date as JavaScript sends it, for example `2024-01-02T03:04:05.678Z`; null for a date JavaScript cannot hold.
    public var queryValue: JSONValue {
        javaScriptText.map { .string($0) } ?? .null
    }
}
