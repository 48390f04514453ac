#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The id of a record: a string or a number, in its original type.
///
/// Servers distinguish `1` from `"1"` over Socket.IO and in JSON. In a URL, both look the same.
public enum ServiceID: Hashable, Sendable {
    case string(String)
    case integer(Int64)
    /// A number that isn't an integer. FeathersJS accepts such ids, but few databases do.
    case number(Double)
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

    /// Creates an id from an integer. If the integer does not fit in `Int64`, this is a runtime error, as in `Int64(_:)`.
    public init(_ value: some BinaryInteger) {
        self = .integer(Int64(value))
    }

    /// Creates an id from a JSON value; nil if the value is neither a string nor a number.
    public init?(_ value: JSONValue) {
        switch value {
        case .string(let string): self = .string(string)
        case .integer(let integer): self = .integer(integer)
        case .number(let number): self = .number(number)
        case .null, .bool, .array, .object: return nil
        }
    }

    /// The id as JSON.
    public var json: JSONValue {
        switch self {
        case .string(let string): .string(string)
        case .integer(let integer): .integer(integer)
        case .number(let number): .number(number)
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
        }
    }
}

extension ServiceID: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let integer = try? container.decode(Int64.self) {
            self = .integer(integer)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else {
            self = .string(try container.decode(String.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let string): try container.encode(string)
        case .integer(let integer): try container.encode(integer)
        case .number(let number): try container.encode(number)
        }
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
/// struct MessageID: RawRepresentable, Codable, Hashable, ServiceIDConvertible { var rawValue: Int }
/// ```
public protocol ServiceIDConvertible {
    /// The id in the form that is sent.
    /// - Throws: ``FeathersError/Code/badRequest``, before anything is sent, if there is no id or a service cannot receive it.
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
    /// - Throws: ``FeathersError/Code/badRequest``, before anything is sent, if the integer does not fit in `Int64`.
    public var serviceID: ServiceID {
        get throws(FeathersError) {
            guard let integer = Int64(exactly: self) else { throw .refused("The id \(self) does not fit in 64 bits") }
            return .integer(integer)
        }
    }
}

// These always fit in 64 bits.
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

extension ServiceIDConvertible where Self: RawRepresentable, RawValue: ServiceIDConvertible {
    /// The raw value as an id.
    public var serviceID: ServiceID { get throws(FeathersError) { try rawValue.serviceID } }
}

extension Optional: ServiceIDConvertible where Wrapped: ServiceIDConvertible {
    /// The wrapped id.
    /// - Throws: ``FeathersError/Code/badRequest``, before anything is sent, for nil: without an id, a call would affect every record.
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
