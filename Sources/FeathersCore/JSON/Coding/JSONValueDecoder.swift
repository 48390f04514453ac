/// Turns a `JSONValue` into a model, without going through bytes.
///
/// It decodes what `JSONDecoder` decodes, and fails with the same errors and coding paths, with these differences: dates are
/// ISO 8601 by default, integers beyond `Int64` are refused since a `JSONValue` cannot hold them exactly, and a `Decimal` may
/// also stand in a string, as databases send them.
public struct JSONValueDecoder: Sendable {
    /// How dates are read.
    public var dateFormat: JSONDateFormat
    /// Handed to every type that is decoded.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    public init(dateFormat: JSONDateFormat = .iso8601, userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
        self.dateFormat = dateFormat
        self.userInfo = userInfo
    }

    /// Decodes a model from a value; a `JSONValue` or `JSONObject` is returned as it is.
    ///
    /// - Throws: `DecodingError`, and whatever the model's own `init(from:)` throws.
    public func decode<T: Decodable>(_ type: T.Type = T.self, from value: JSONValue) throws -> T {
        // The commonest "model" of all needs no decoder.
        if type == JSONValue.self, let value = value as? T { return value }
        return try DecodingNode(value: value, options: DecodingOptions(dateFormat: dateFormat, userInfo: userInfo)).decodeWhole(type)
    }
}

/// What every node of one decoding shares.
final class DecodingOptions: Sendable {
    let dateFormat: JSONDateFormat
    let userInfo: [CodingUserInfoKey: any Sendable]

    init(dateFormat: JSONDateFormat, userInfo: [CodingUserInfoKey: any Sendable]) {
        self.dateFormat = dateFormat
        self.userInfo = userInfo
    }
}
