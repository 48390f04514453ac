#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// How models are encoded to JSON and decoded from it.
///
/// ```swift
/// app.coding = CodingOptions(dates: .secondsSince1970, keys: .snakeCase)
/// ```
///
/// Set them for an app, for a service (``FeathersApp/service(_:of:rootKeys:coding:)``) or for a call (``Params/coding``). The options nearest to
/// the call apply, as a whole. For anything beyond these options, write your own ``JSONCodec``.
///
/// Models are coded as Foundation's JSON coders do it, with the same errors. What a ``JSONValue`` cannot hold exactly is refused instead of
/// rounded: integers beyond `Int64`, and a `Decimal` with more digits than a `Double` keeps. A decoded `Decimal` may also be a string.
///
/// A `UUID` is written in lower case (RFC 9562), as in ids and queries, and read in either case.
public struct CodingOptions: Sendable {
    /// The format of dates.
    public var dates: JSONDateFormat
    /// The format of `Data`.
    public var data: JSONDataFormat
    /// The format of property names.
    public var keys: JSONKeyFormat
    /// The format of infinities and NaN.
    public var nonConformingFloats: JSONFloatFormat
    /// Passed to every type that is encoded or decoded.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    /// Creates options. The defaults read and write what JavaScript does.
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

    /// Decodes a model from a JSON text in UTF-8, usually without building its ``JSONValue``.
    public func decode<T: Decodable>(_ type: T.Type, parsing text: [UInt8]) throws -> T {
        try JSONValueDecoder(self).decode(type, parsing: text)
    }
}

/// Encodes and decodes models: ``CodingOptions``, or your own codec.
public protocol JSONCodec: Sendable {
    /// Encodes a model.
    /// - Throws: `EncodingError`, and whatever the model throws.
    func encode(_ value: some Encodable) throws -> JSONValue

    /// Decodes a model.
    /// - Throws: `DecodingError`, whose coding path the call's error names, and whatever the model throws.
    func decode<T: Decodable>(_ type: T.Type, from json: JSONValue) throws -> T
}

/// The format of dates in JSON.
public enum JSONDateFormat: Sendable {
    /// `2024-01-02T03:04:05.678Z`, as JavaScript's `toJSON` writes dates.
    ///
    /// Decoding accepts any fraction of a second, or none, and offsets such as `+02:00`.
    case iso8601
    /// `2024-01-02T03:04:05Z`, for servers that refuse fractions. Encoding drops the fraction; decoding accepts what ``iso8601`` accepts.
    case iso8601WithoutFraction
    /// A number of milliseconds since 1970, as JavaScript's `getTime` gives it.
    case millisecondsSince1970
    /// A number of seconds since 1970.
    case secondsSince1970
    /// Your own format. An error of either function is reported with the coding path of the date.
    case custom(encode: @Sendable (Date) throws -> JSONValue, decode: @Sendable (JSONValue) throws -> Date)
}

/// The format of `Data` in JSON.
public enum JSONDataFormat: Sendable {
    /// A string in Base64 (RFC 4648, section 4).
    case base64
    /// Your own format. An error of either function is reported with the coding path of the data.
    case custom(encode: @Sendable (Data) throws -> JSONValue, decode: @Sendable (JSONValue) throws -> Data)
}

/// The format of infinities and NaN, for which JSON has no numbers.
public enum JSONFloatFormat: Sendable {
    /// Encoding such a number throws, and only JSON numbers are decoded as numbers.
    case refused
    /// Encoded as null, as JavaScript's `JSON.stringify` does. Null is decoded as NaN.
    case null
    /// Encoded as these strings, and decoded from them.
    case strings(positiveInfinity: String, negativeInfinity: String, nan: String)

    /// The JSON of a number that is not finite; nil if it is refused.
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
