/// Turns a model into a `JSONValue`, without going through bytes.
///
/// It encodes what `JSONEncoder` encodes, with these differences: dates are ISO 8601 with milliseconds by default, as
/// JavaScript's `toJSON` writes them, and what a `JSONValue` cannot hold exactly is refused instead of rounded: integers beyond
/// `Int64`, and a `Decimal` with more digits than a `Double` keeps.
public struct JSONValueEncoder: Sendable {
    /// How dates, data, keys and numbers are written.
    public var options: CodingOptions

    /// An encoder; it may be kept and used from several tasks at once.
    public init(_ options: CodingOptions = CodingOptions()) {
        self.options = options
    }

    /// Encodes a model; a `JSONValue` is returned as it is.
    ///
    /// - Throws: `EncodingError`, and whatever the model's own `encode(to:)` throws.
    public func encode<T: Encodable>(_ value: T) throws -> JSONValue {
        if T.self == JSONValue.self, let value = value as? JSONValue { return value }
        let root = EncodingNode(options: EncodingOptions(options), path: [])
        guard let encoded = try root.encodeWhole(value) else {
            throw EncodingError.invalidValue(
                value, EncodingError.Context(codingPath: [], debugDescription: "\(T.self) did not encode any values."))
        }
        return encoded
    }
}

/// What every node of one encoding shares.
final class EncodingOptions {
    let coding: CodingOptions
    /// nil where keys stay as they are.
    let keys: CodedKeys?

    init(_ coding: CodingOptions) {
        self.coding = coding
        keys = coding.keys.converts ? CodedKeys(coding.keys) : nil
    }
}
