#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension DecodingNode {
    @inline(__always)
    func bool(from value: JSONValue, at step: @autoclosure () -> CodingPathStep) throws -> Bool {
        guard case .bool(let bool) = value else { throw mismatch(Bool.self, value, at: step()) }
        return bool
    }

    @inline(__always)
    func string(from value: JSONValue, at step: @autoclosure () -> CodingPathStep) throws -> String {
        guard case .string(let string) = value else { throw mismatch(String.self, value, at: step()) }
        return string
    }

    /// An integer, also where it was written as `1.0`.
    @inline(__always)
    func integer<T: FixedWidthInteger>(from value: JSONValue, as type: T.Type, at step: @autoclosure () -> CodingPathStep) throws -> T {
        if case .integer(let integer) = value, let exact = T(exactly: integer) { return exact }
        return try integerOffTheFastPath(from: value, as: type, at: step())
    }

    private func integerOffTheFastPath<T: FixedWidthInteger>(
        from value: JSONValue, as type: T.Type, at step: CodingPathStep
    ) throws -> T {
        switch value {
        case .number(let number):
            // Beyond Int64 the digits that were read are already rounded, even where they seem to fit a UInt64.
            if let integer = Int64(exactly: number), let exact = T(exactly: integer) { return exact }
            throw corrupted("The number \(value) does not fit \(type).", at: step)
        case .integer:
            throw corrupted("The number \(value) does not fit \(type).", at: step)
        default:
            throw mismatch(type, value, at: step)
        }
    }

    @inline(__always)
    func double(from value: JSONValue, at step: @autoclosure () -> CodingPathStep) throws -> Double {
        switch value {
        case .number(let number): return number
        case .integer(let integer): return Double(integer)
        default: throw mismatch(Double.self, value, at: step())
        }
    }

    @inline(__always)
    func float(from value: JSONValue, at step: @autoclosure () -> CodingPathStep) throws -> Float {
        switch value {
        case .integer(let integer): return Float(integer)
        case .number(let number):
            let float = Float(number)
            guard float.isFinite || !number.isFinite else { throw corrupted("The number \(value) does not fit Float.", at: step()) }
            return float
        default: throw mismatch(Float.self, value, at: step())
        }
    }

    /// Anything else: the types JSON treats specially, or a model that decodes itself.
    func decode<T: Decodable>(_ type: T.Type, from value: JSONValue, at step: @autoclosure () -> CodingPathStep) throws -> T {
        let special = SpecialType(type)
        guard special == .none else { return try decode(special, as: type, from: value, at: step()) }
        return try T(from: DecodingNode(value: value, parent: self, step: step()))
    }

    /// This node's own value as `type`, which needs no further node.
    func decodeWhole<T: Decodable>(_ type: T.Type) throws -> T {
        let special = SpecialType(type)
        guard special == .none else { return try decode(special, as: type, from: value, at: .root) }
        return try T(from: self)
    }

    private func decode<T>(_ special: SpecialType, as type: T.Type, from value: JSONValue, at step: CodingPathStep) throws -> T {
        let decoded: Any
        switch special {
        case .jsonValue, .none: decoded = value
        case .jsonObject:
            guard case .object(let object) = value else { throw mismatch(type, value, at: step) }
            decoded = object
        case .date: decoded = try date(from: value, at: step)
        case .url: decoded = try url(from: value, at: step)
        case .data: decoded = try data(from: value, at: step)
        case .decimal: decoded = try decimal(from: value, at: step)
        }
        guard let decoded = decoded as? T else { throw mismatch(type, value, at: step) }
        return decoded
    }

    private func date(from value: JSONValue, at step: CodingPathStep) throws -> Date {
        switch options.dateFormat {
        case .iso8601:
            guard let timestamp = ISO8601Timestamp(try string(from: value, at: step)) else {
                throw corrupted("Expected a date in ISO 8601, such as 2024-01-02T03:04:05.678Z.", at: step)
            }
            return Date(timeIntervalSince1970: timestamp.milliseconds / 1000)
        case .millisecondsSince1970: return Date(timeIntervalSince1970: try double(from: value, at: step) / 1000)
        case .secondsSince1970: return Date(timeIntervalSince1970: try double(from: value, at: step))
        }
    }

    private func url(from value: JSONValue, at step: CodingPathStep) throws -> URL {
        guard let url = URL(string: try string(from: value, at: step)) else { throw corrupted("Invalid URL string.", at: step) }
        return url
    }

    private func data(from value: JSONValue, at step: CodingPathStep) throws -> Data {
        guard let data = Data(base64Encoded: try string(from: value, at: step)) else {
            throw corrupted("The string is not valid Base64.", at: step)
        }
        return data
    }

    private func decimal(from value: JSONValue, at step: CodingPathStep) throws -> Decimal {
        let text: String
        switch value {
        case .integer(let integer): return Decimal(integer)
        case .number(let number): text = number.description
        case .string(let string):
            // Decimal itself would read "12 apples" as 12.
            guard let parsed = try? JSONValue(parsing: string), parsed.number != nil else {
                throw corrupted("The string is no decimal number.", at: step)
            }
            text = string
        default: throw mismatch(Decimal.self, value, at: step)
        }
        guard let decimal = Decimal(string: text) else { throw corrupted("The number does not fit Decimal.", at: step) }
        return decimal
    }
}
