/// Turns a model into a `JSONValue`, without going through bytes.
///
/// It encodes what `JSONEncoder` encodes, with these differences: dates are ISO 8601 with milliseconds by default, as
/// JavaScript's `toJSON` writes them, and what a `JSONValue` cannot hold exactly is refused instead of rounded: integers beyond
/// `Int64`, and a `Decimal` with more digits than a `Double` keeps.
public struct JSONValueEncoder: Sendable {
    /// How dates are written.
    public var dateFormat: JSONDateFormat
    /// Handed to every type that is encoded.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    public init(dateFormat: JSONDateFormat = .iso8601, userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
        self.dateFormat = dateFormat
        self.userInfo = userInfo
    }

    /// Encodes a model; a `JSONValue` is returned as it is.
    ///
    /// - Throws: `EncodingError`, and whatever the model's own `encode(to:)` throws.
    public func encode<T: Encodable>(_ value: T) throws -> JSONValue {
        if T.self == JSONValue.self, let value = value as? JSONValue { return value }
        let root = EncodingNode(options: EncodingOptions(dateFormat: dateFormat, userInfo: userInfo), path: [])
        guard let encoded = try root.encodeWhole(value) else {
            throw EncodingError.invalidValue(
                value, EncodingError.Context(codingPath: [], debugDescription: "\(T.self) did not encode any values."))
        }
        return encoded
    }
}

/// What every node of one encoding shares.
final class EncodingOptions: Sendable {
    let dateFormat: JSONDateFormat
    let userInfo: [CodingUserInfoKey: any Sendable]

    init(dateFormat: JSONDateFormat, userInfo: [CodingUserInfoKey: any Sendable]) {
        self.dateFormat = dateFormat
        self.userInfo = userInfo
    }
}
