import FeathersJSON
public import Foundation

/// The id of a record: a string or a number, in its original type.
///
/// Servers distinguish `1` from `"1"` over Socket.IO and in JSON. In a URL, both look the same. Text is compared as it
/// was written: a composed and a decomposed "é" are different, as in JavaScript.
public enum ServiceID: Hashable, Sendable {
    case string(String)
    case integer(Int64)
    /// A number that isn't an integer. FeathersJS accepts such ids, but few databases do.
    case number(Double)
    /// A number with more digits than the other cases keep, such as an integer of 23 digits.
    case decimal(JSONDecimal)
}

extension ServiceID {
    public static func == (left: ServiceID, right: ServiceID) -> Bool {
        switch (left, right) {
        case (.string(let left), .string(let right)): left.isExactly(right)
        case (.integer(let left), .integer(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.decimal(let left), .decimal(let right)): left == right
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .string(let text): text.hashExactly(into: &hasher)
        case .integer(let integer): hasher.combine(integer)
        case .number(let number): hasher.combine(number)
        case .decimal(let decimal): hasher.combine(decimal)
        }
    }

    /// The id as text, for dictionaries by id: no two ids that are written differently have texts that Swift takes for
    /// equal.
    ///
    /// It is the ``description``, except for text that isn't in Unicode's composed form (NFC).
    package var key: String {
        if case .string(let text) = self { text.exactKey } else { description }
    }
}

extension String {
    /// This text as a key of dictionaries: no two texts that are written differently have keys that Swift takes for
    /// equal.
    package var exactKey: String {
        // Different texts in Unicode's composed form (NFC) are different for Swift too.
        if utf8.allSatisfy({ $0 < 0x80 }) || isExactly(precomposedStringWithCanonicalMapping) { return self }
        return "\0" + utf8.map { String($0, radix: 16) }.joined(separator: " ")
    }
}

extension ServiceID: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    public init(stringLiteral value: String) {
        self = .string(value)
    }

    public init(integerLiteral value: Int64) {
        self = .integer(value)
    }
}

extension ServiceID {
    /// Creates an id from text, even if it consists of digits: `"7"` and `7` are different ids.
    public init(_ value: String) {
        self = .string(value)
    }

    /// Creates an id from an integer.
    public init(_ value: some BinaryInteger) {
        // A number is always a valid id.
        self = ServiceID(JSONValue(integer: value)) ?? .string(String(value))
    }

    /// Creates an id from a JSON value; nil if the value is neither a string nor a number.
    public init?(_ value: JSONValue) {
        switch value {
        case .string(let string): self = .string(string)
        case .integer(let integer): self = .integer(integer)
        case .number(let number): self = .number(number)
        case .decimal(let decimal): self = .decimal(decimal)
        case .null, .bool, .array, .object: return nil
        }
    }

    /// The id as JSON.
    public var json: JSONValue {
        switch self {
        case .string(let string): .string(string)
        case .integer(let integer): .integer(integer)
        case .number(let number): .number(number)
        case .decimal(let decimal): .decimal(decimal)
        }
    }
}

extension ServiceID: CustomStringConvertible {
    /// The id as text, for URLs (before percent-encoding) and messages.
    public var description: String {
        switch self {
        case .string(let string): string
        case .integer(let integer): String(integer)
        case .number(let number): JSONValue.number(number).description
        case .decimal(let decimal): decimal.text
        }
    }
}

extension ServiceID: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = ServiceID(try container.decode(JSONValue.self)) else {
            throw DecodingError.typeMismatch(
                ServiceID.self,
                DecodingError.Context(
                    codingPath: decoder.codingPath, debugDescription: "An id must be a string or a number."))
        }
        self = id
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(json)
    }
}

extension ServiceID: QueryValue {
    public var queryValue: JSONValue { json }
}

/// A type that can be used as an id: strings, integers, UUIDs, optionals of them, or your own type.
///
/// A type with a raw value only needs to declare the conformance:
///
/// ```swift
/// nonisolated struct MessageID: RawRepresentable, Codable, Hashable, ServiceIDConvertible {
///     var rawValue: Int
/// }
/// ```
public protocol ServiceIDConvertible {
    /// The id in the form that is sent.
    /// - Throws: ``FeathersError/Code/badRequest``, before anything is sent, if there is no id or a service cannot
    ///   receive it.
    var serviceID: ServiceID { get throws(FeathersError) }
}

extension ServiceID: ServiceIDConvertible {
    public var serviceID: ServiceID { self }
}

extension String: ServiceIDConvertible {
    public var serviceID: ServiceID { .string(self) }
}

extension ServiceIDConvertible where Self: BinaryInteger {
    /// The integer as an id.
    public var serviceID: ServiceID { ServiceID(self) }
}

// The common integer types, which need no comparison with the limits of `Int64`.
extension Int: ServiceIDConvertible { public var serviceID: ServiceID { .integer(Int64(self)) } }
extension Int32: ServiceIDConvertible { public var serviceID: ServiceID { .integer(Int64(self)) } }
extension Int64: ServiceIDConvertible { public var serviceID: ServiceID { .integer(self) } }

extension Int8: ServiceIDConvertible {}
extension Int16: ServiceIDConvertible {}
extension UInt: ServiceIDConvertible {}
extension UInt8: ServiceIDConvertible {}
extension UInt16: ServiceIDConvertible {}
extension UInt32: ServiceIDConvertible {}
extension UInt64: ServiceIDConvertible {}
extension Int128: ServiceIDConvertible {}
extension UInt128: ServiceIDConvertible {}

extension Decimal: ServiceIDConvertible {
    /// The decimal as an id.
    /// - Throws: ``FeathersError/Code/badRequest``, before anything is sent, for NaN.
    public var serviceID: ServiceID {
        get throws(FeathersError) {
            guard let id = JSONValue(decimal: self).flatMap({ ServiceID($0) }) else {
                throw .refused("The id is not a number")
            }
            return id
        }
    }
}

extension ServiceIDConvertible where Self: RawRepresentable, RawValue: ServiceIDConvertible {
    /// The raw value as an id.
    public var serviceID: ServiceID { get throws(FeathersError) { try rawValue.serviceID } }
}

extension Optional: ServiceIDConvertible where Wrapped: ServiceIDConvertible {
    /// The wrapped id.
    /// - Throws: ``FeathersError/Code/badRequest``, before anything is sent, for nil: without an id, a call would
    ///   affect every record.
    public var serviceID: ServiceID {
        get throws(FeathersError) {
            guard let self else { throw .refused("The id is nil: a record has no id until its service has created it") }
            return try self.serviceID
        }
    }
}

extension UUID: ServiceIDConvertible {
    /// The UUID in lowercase, as JavaScript libraries write it.
    public var serviceID: ServiceID { .string(lowercaseString) }
}
