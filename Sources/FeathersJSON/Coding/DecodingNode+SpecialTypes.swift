#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The types whose JSON form the options say, or JSON's users agree on.
extension DecodingNode {
    func decode<T>(_ special: SpecialType, as type: T.Type, from source: DecodingSource, at step: CodingPathStep) throws -> T {
        let value = source.json
        let decoded: Any
        switch special {
        case .jsonValue, .none: decoded = value
        case .jsonObject:
            guard case .object(let object) = value else { throw mismatch(type, source, at: step) }
            decoded = object
        case .date: decoded = try date(from: value, at: step)
        case .url: decoded = try url(from: value, at: step)
        case .data: decoded = try data(from: value, at: step)
        case .decimal: decoded = try decimal(from: value, at: step)
        }
        guard let decoded = decoded as? T else { throw mismatch(type, source, at: step) }
        return decoded
    }

    private func date(from value: JSONValue, at step: CodingPathStep) throws -> Date {
        switch options.coding.dates {
        case .iso8601, .iso8601WithoutFraction:
            guard let timestamp = ISO8601Timestamp(try string(from: .tree(value), at: step)) else {
                throw corrupted("Expected a date in ISO 8601, such as 2024-01-02T03:04:05.678Z.", at: step)
            }
            return Date(timeIntervalSince1970: timestamp.milliseconds / 1000)
        case .millisecondsSince1970: return Date(timeIntervalSince1970: try moment(from: value, at: step) / 1000)
        case .secondsSince1970: return Date(timeIntervalSince1970: try moment(from: value, at: step))
        case .custom(_, let decode): return try custom(decode, from: value, at: step)
        }
    }

    /// A number that is one, whatever the floats' format reads as a number.
    private func moment(from value: JSONValue, at step: CodingPathStep) throws -> Double {
        guard let number = value.number else { throw mismatch(Date.self, .tree(value), at: step) }
        return number
    }

    /// What a format of the app's own reads; its failure gets the coding path it cannot know.
    private func custom<T>(_ decode: (JSONValue) throws -> T, from value: JSONValue, at step: CodingPathStep) throws -> T {
        do {
            return try decode(value)
        } catch {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: path(to: step), debugDescription: "The custom format does not read it as \(T.self).", underlyingError: error
                ))
        }
    }

    private func url(from value: JSONValue, at step: CodingPathStep) throws -> URL {
        guard let url = URL(string: try string(from: .tree(value), at: step)) else { throw corrupted("Invalid URL string.", at: step) }
        return url
    }

    private func data(from value: JSONValue, at step: CodingPathStep) throws -> Data {
        if case .custom(_, let decode) = options.coding.data { return try custom(decode, from: value, at: step) }
        guard let data = Data(base64Encoded: try string(from: .tree(value), at: step)) else {
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
        default: throw mismatch(Decimal.self, .tree(value), at: step)
        }
        guard let decimal = Decimal(string: text) else { throw corrupted("The number does not fit Decimal.", at: step) }
        return decimal
    }
}
