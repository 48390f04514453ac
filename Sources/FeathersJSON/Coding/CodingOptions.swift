#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The rules for encoding models to JSON and decoding them from it.
///
/// ```swift
/// app.coding = CodingOptions(dates: .secondsSince1970, keys: .snakeCase)
/// ```
///
/// Set options for an app, for a service (``FeathersApp/service(_:of:rootKeys:coding:)``), or for a call
/// (``Params/coding``). The most specific options apply, and replace the others entirely. For anything these options
/// don't cover, write your own ``JSONCodec``.
///
/// Models are encoded and decoded as with Foundation's JSON coders, with the same errors. A number is decoded as the
/// same number as with `JSONDecoder`, or decoding fails. An encoded number keeps its digits, including a `UInt64`, an
/// `Int128`, or a `Decimal`. A `Decimal` can also be decoded from a string.
///
/// A `UUID` is written in lowercase (RFC 9562), as in ids and queries, and read in either case.
public struct CodingOptions: Sendable {
    /// The format of dates.
    public var dates: JSONDateFormat
    /// The format of `Data`.
    public var data: JSONDataFormat
    /// The format of property names.
    public var keys: JSONKeyFormat
    /// The format of infinities and NaN.
    public var nonConformingFloats: JSONFloatFormat
    /// Contextual information, passed to every type that is encoded or decoded.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    /// Creates options. The defaults match what JavaScript reads and writes.
    public init(
        dates: JSONDateFormat = .iso8601, data: JSONDataFormat = .base64, keys: JSONKeyFormat = .asIs,
        nonConformingFloats: JSONFloatFormat = .refused, userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) {
        self.dates = dates
        self.data = data
        self.keys = keys
        self.nonConformingFloats = nonConformingFloats
        self.userInfo = userInfo
    }
}

extension CodingOptions: JSONCodec {
    public func encode(_ value: some Encodable) throws -> JSONValue { try JSONValueEncoder(self).encode(value) }

    public func decode<T: Decodable>(_ type: T.Type, from json: JSONValue) throws -> T {
        try JSONValueDecoder(self).decode(type, from: json)
    }

    /// Decodes a model from UTF-8 JSON text.
    public func decode<T: Decodable>(_ type: T.Type, parsing text: [UInt8]) throws -> T {
        try decode(type, from: JSONValue(parsing: text))
    }
}

/// A type that encodes and decodes models: ``CodingOptions``, or your own codec.
public protocol JSONCodec: Sendable {
    /// Encodes a model.
    /// - Throws: `EncodingError`, or any error that the model throws.
    func encode(_ value: some Encodable) throws -> JSONValue

    /// Decodes a model.
    /// - Throws: `DecodingError`, whose coding path appears in the call's error, or any error that the model throws.
    func decode<T: Decodable>(_ type: T.Type, from json: JSONValue) throws -> T
}

/// The format of dates in JSON.
public enum JSONDateFormat: Sendable {
    /// `2024-01-02T03:04:05.678Z`, as JavaScript's `toJSON` writes dates.
    ///
    /// Decoding accepts any fraction of a second, or none, and offsets such as `+02:00`.
    case iso8601
    /// `2024-01-02T03:04:05Z`, for servers that reject fractions. Encoding drops the fraction; decoding accepts the
    /// same text as ``iso8601``.
    case iso8601WithoutFraction
    /// The number of milliseconds since 1970, as returned by JavaScript's `getTime`.
    case millisecondsSince1970
    /// The number of seconds since 1970.
    case secondsSince1970
    /// Your own format. An error from either function is reported with the coding path of the date.
    case custom(encode: @Sendable (Date) throws -> JSONValue, decode: @Sendable (JSONValue) throws -> Date)
}

/// The format of `Data` in JSON.
public enum JSONDataFormat: Sendable {
    /// A Base64 string (RFC 4648, section 4).
    case base64
    /// Your own format. An error from either function is reported with the coding path of the data.
    case custom(encode: @Sendable (Data) throws -> JSONValue, decode: @Sendable (JSONValue) throws -> Data)
}

/// The format of infinities and NaN, which JSON numbers cannot represent.
public enum JSONFloatFormat: Sendable {
    /// Encoding such a number throws. Decoding accepts only JSON numbers.
    case refused
    /// Encoded as null, as with JavaScript's `JSON.stringify`. Null is decoded as NaN.
    case null
    /// Encoded as these strings and decoded from them.
    case strings(positiveInfinity: String, negativeInfinity: String, nan: String)

    /// Returns the JSON for a number that is not finite; nil if such numbers are refused.
    func json(of number: Double) -> JSONValue? {
        switch self {
        case .refused: nil
        case .null: .null
        case .strings(let positiveInfinity, let negativeInfinity, let nan):
            .string(number.isNaN ? nan : number > 0 ? positiveInfinity : negativeInfinity)
        }
    }

    func number(in value: JSONValue) -> Double? {
        switch (self, value) {
        case (.null, .null): .nan
        case (.strings(let positiveInfinity, let negativeInfinity, let nan), .string(let text)):
            text == positiveInfinity ? .infinity : text == negativeInfinity ? -.infinity : text == nan ? .nan : nil
        default: nil
        }
    }
}
