#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension JSONValue {
    /// Creates JSON by encoding a model or any other encodable value.
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - coding: The format of dates, data, and names.
    /// - Throws: `EncodingError`, or any error from the value's `encode(to:)`.
    public init(encoding value: some Encodable, with coding: any JSONCodec = CodingOptions()) throws {
        self = try coding.encode(value)
    }

    /// Decodes a model from the value: `try json.decode(Message.self)`.
    /// - Parameters:
    ///   - type: The type of the model.
    ///   - coding: The format of dates, data, and names.
    /// - Throws: `DecodingError`, or any error from the model's `init(from:)`.
    public func decode<Model: Decodable>(_ type: Model.Type = Model.self, with coding: any JSONCodec = CodingOptions())
        throws -> Model
    {
        try coding.decode(type, from: self)
    }
}

extension JSONValue: Codable {
    /// Decodes any JSON value from any decoder. This package's decoder returns its value without calling this
    /// initializer.
    ///
    /// From another decoder, such as `JSONDecoder`, a number keeps up to 38 digits, as many as a `Decimal`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let string = try? container.decode(String.self) {
            self = .string(string)
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let integer = try? container.decode(Int64.self), integer.magnitude < 1 << 53 {
            self = .integer(integer)
        } else if let number = try? container.decode(Double.self) {
            // As an integer, JSONDecoder would round 12345678901234567.89.
            if let decimal = try? container.decode(Decimal.self), let exact = JSONValue(decimal: decimal),
                exact.number == number
            {
                self = exact
            } else {
                // The decoder does not decode decimals, or the number is beyond their range.
                self = (try? container.decode(Int64.self)).map(JSONValue.integer) ?? .number(number)
            }
        } else if let object = try? container.decode(JSONObject.self) {
            self = .object(object)
        } else {
            // The error from the last attempt has the coding path of a value that is not JSON.
            self = .array(try container.decode([JSONValue].self))
        }
    }

    /// Writes the value.
    /// - Throws: `EncodingError.invalidValue` if the number has more digits than a `Decimal` keeps, and the encoder
    ///   isn't this package's.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let object): try object.encode(to: encoder)
        case .array(let array): try array.encode(to: encoder)
        default:
            var container = encoder.singleValueContainer()
            switch self {
            case .bool(let bool): try container.encode(bool)
            case .integer(let integer): try container.encode(integer)
            case .number(let number): try container.encode(number)
            case .decimal:
                guard let decimal, JSONValue(decimal: decimal) == self else {
                    let context = EncodingError.Context(
                        codingPath: container.codingPath,
                        debugDescription: "The number has more digits than a Decimal keeps.")
                    throw EncodingError.invalidValue(self, context)
                }
                try container.encode(decimal)
            case .string(let string): try container.encode(string)
            default: try container.encodeNil()
            }
        }
    }
}
