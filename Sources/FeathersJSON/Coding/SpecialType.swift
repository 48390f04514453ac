#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The types whose JSON form differs from their own `Codable` conformance.
enum SpecialType {
    case none, jsonValue, jsonObject, date, url, uuid, data, decimal

    /// Costs seven pointer comparisons for every value that is decoded or encoded.
    @inline(__always)
    init(_ type: any Any.Type) {
        if type == JSONValue.self {
            self = .jsonValue
        } else if type == Date.self {
            self = .date
        } else if type == URL.self {
            self = .url
        } else if type == UUID.self {
            self = .uuid
        } else if type == Data.self {
            self = .data
        } else if type == Decimal.self {
            self = .decimal
        } else if type == JSONObject.self {
            self = .jsonObject
        } else {
            self = .none
        }
    }
}

/// Returns a value as its own type, which the caller knows as `T`, without a dynamic cast.
@inline(__always)
package func identity<Value, T>(_ value: Value, as type: T.Type) -> T {
    precondition(Value.self == type)
    return unsafeBitCast(value, to: type)
}

extension DecodingNode {
    func decode<T>(_ special: SpecialType, as type: T.Type, from value: JSONValue, at step: CodingPathStep) throws -> T
    {
        switch special {
        case .jsonValue: return identity(value, as: type)
        case .jsonObject:
            guard case .object(let object) = value else { throw mismatch(type, value, at: step) }
            return identity(object, as: type)
        case .date: return identity(try date(from: value, at: step), as: type)
        case .url: return identity(try url(from: value, at: step), as: type)
        case .uuid: return identity(try uuid(from: value, at: step), as: type)
        case .data: return identity(try data(from: value, at: step), as: type)
        case .decimal: return identity(try decimal(from: value, at: step), as: type)
        case .none: throw mismatch(type, value, at: step)
        }
    }

    private func date(from value: JSONValue, at step: CodingPathStep) throws -> Date {
        switch options.coding.dates {
        case .iso8601, .iso8601WithoutFraction:
            guard let timestamp = ISO8601Timestamp(try string(from: value, at: step)) else {
                throw corrupted("Expected a date in ISO 8601, such as 2024-01-02T03:04:05.678Z.", at: step)
            }
            return Date(timeIntervalSince1970: timestamp.milliseconds / 1000)
        case .millisecondsSince1970: return Date(timeIntervalSince1970: try moment(from: value, at: step) / 1000)
        case .secondsSince1970: return Date(timeIntervalSince1970: try moment(from: value, at: step))
        case .custom(_, let decode): return try custom(decode, from: value, at: step)
        }
    }

    /// Returns a number, regardless of which strings the float format accepts as numbers.
    private func moment(from value: JSONValue, at step: CodingPathStep) throws -> Double {
        guard let number = value.number else { throw mismatch(Date.self, value, at: step) }
        return number
    }

    /// Decodes with a custom format and adds the coding path to its error.
    private func custom<T>(_ decode: (JSONValue) throws -> T, from value: JSONValue, at step: CodingPathStep) throws
        -> T
    {
        do {
            return try decode(value)
        } catch {
            throw corrupted("The custom format failed to decode \(T.self).", at: step, underlying: error)
        }
    }

    private func url(from value: JSONValue, at step: CodingPathStep) throws -> URL {
        guard let url = URL(string: try string(from: value, at: step)) else {
            throw corrupted("Invalid URL string.", at: step)
        }
        return url
    }

    private func uuid(from value: JSONValue, at step: CodingPathStep) throws -> UUID {
        guard let uuid = UUID(uuidString: try string(from: value, at: step)) else {
            throw corrupted("Invalid UUID string.", at: step)
        }
        return uuid
    }

    private func data(from value: JSONValue, at step: CodingPathStep) throws -> Data {
        if case .custom(_, let decode) = options.coding.data { return try custom(decode, from: value, at: step) }
        guard let data = Data(base64Encoded: try string(from: value, at: step)) else {
            throw corrupted("The string is not valid Base64.", at: step)
        }
        return data
    }

    private func decimal(from value: JSONValue, at step: CodingPathStep) throws -> Decimal {
        var number = value
        if case .string(let string) = value {
            // Decimal itself parses "12 apples" as 12.
            guard let parsed = try? JSONValue(parsing: string), parsed.hasNumber else {
                throw corrupted("The string is not a decimal number.", at: step)
            }
            number = parsed
        }
        guard let decimal = number.decimal else { throw unfit(Decimal.self, value, at: step) }
        return decimal
    }
}

extension JSONValue {
    var hasNumber: Bool {
        switch self {
        case .integer, .number, .decimal: true
        default: false
        }
    }

    /// The number as a `Decimal`, which keeps up to 38 digits; nil for any other kind of value, and beyond the range of
    /// a `Decimal`.
    public var decimal: Decimal? {
        switch self {
        case .integer(let integer): Decimal(integer)
        case .number(let number): number.isFinite ? Decimal(string: number.description) : nil
        case .decimal(let decimal): Decimal(string: decimal.text)
        default: nil
        }
    }

    /// Creates a number from a decimal; nil for NaN.
    package init?(decimal: Decimal) {
        guard !decimal.isNaN else { return nil }
        let text = decimal.description
        self = Int64(text).map(JSONValue.integer) ?? JSONValue(numberText: text)
    }
}

extension EncodingNode {
    @inline(__always)
    func encodeSpecial<T>(_ value: T, at step: @autoclosure () -> CodingPathStep) throws -> JSONValue? {
        switch SpecialType(T.self) {
        case .none: nil
        case .jsonValue: value as? JSONValue
        case .jsonObject: (value as? JSONObject).map(JSONValue.object)
        case .date: try (value as? Date).map { try date($0, at: step()) }
        case .url: (value as? URL).map { .string($0.absoluteString) }
        case .uuid: (value as? UUID).map { .string($0.lowercaseString) }
        case .data: try (value as? Data).map { try data($0, at: step()) }
        case .decimal: try (value as? Decimal).map { try decimal($0, at: step()) }
        }
    }

    private func date(_ date: Date, at step: CodingPathStep) throws -> JSONValue {
        switch options.coding.dates {
        case .iso8601: return try timestamp(of: date, hasFraction: true, at: step)
        case .iso8601WithoutFraction: return try timestamp(of: date, hasFraction: false, at: step)
        case .millisecondsSince1970: return try double(date.timeIntervalSince1970 * 1000, at: step)
        case .secondsSince1970: return try double(date.timeIntervalSince1970, at: step)
        case .custom(let encode, _): return try custom(encode, date, at: step)
        }
    }

    private func timestamp(of date: Date, hasFraction: Bool, at step: CodingPathStep) throws -> JSONValue {
        guard
            let text = ISO8601Timestamp(milliseconds: date.timeIntervalSince1970 * 1000).text(hasFraction: hasFraction)
        else {
            throw invalid(printable(date), "The date is outside the range of JavaScript's dates.", at: step)
        }
        return .string(text)
    }

    private func data(_ data: Data, at step: CodingPathStep) throws -> JSONValue {
        switch options.coding.data {
        case .base64: .string(data.base64EncodedString())
        case .custom(let encode, _): try custom(encode, data, at: step)
        }
    }

    /// Encodes with a custom format and adds the coding path to its error.
    private func custom<T>(_ encode: (T) throws -> JSONValue, _ value: T, at step: CodingPathStep) throws -> JSONValue {
        do {
            return try encode(value)
        } catch {
            throw invalid(
                printable(value), "The custom format failed to encode \(T.self).", at: step, underlying: error)
        }
    }

    /// Returns a value that an error can print: for a date, its seconds since 1970.
    ///
    /// Foundation terminates the process when it prints a date that is not finite.
    private func printable(_ value: Any) -> Any {
        if let date = value as? Date { return date.timeIntervalSince1970 }
        return value
    }

    private func decimal(_ decimal: Decimal, at step: CodingPathStep) throws -> JSONValue {
        guard let number = JSONValue(decimal: decimal) else {
            throw invalid(decimal, "JSON cannot represent \(decimal).", at: step)
        }
        return number
    }
}

extension UUID {
    /// The UUID in lowercase, as RFC 9562 and JavaScript write it. Foundation writes it in uppercase.
    package var lowercaseString: String { uuidString.lowercased() }
}
