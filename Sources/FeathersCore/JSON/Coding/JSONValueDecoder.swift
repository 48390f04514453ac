/// Turns a `JSONValue` into a model, without going through bytes.
///
/// It decodes what `JSONDecoder` decodes, and fails with the same errors and coding paths, with these differences: dates are
/// ISO 8601 by default, integers beyond `Int64` are refused since a `JSONValue` cannot hold them exactly, and a `Decimal` may
/// also stand in a string, as databases send them.
public struct JSONValueDecoder: Sendable {
    /// How dates, data, keys and numbers are read.
    public var options: CodingOptions

    /// A decoder; it may be kept and used from several tasks at once.
    public init(_ options: CodingOptions = CodingOptions()) {
        self.options = options
    }

    /// Decodes a model from a value; a `JSONValue` or `JSONObject` is returned as it is.
    ///
    /// - Throws: `DecodingError`, and whatever the model's own `init(from:)` throws.
    public func decode<T: Decodable>(_ type: T.Type = T.self, from value: JSONValue) throws -> T {
        // The commonest "model" of all needs no decoder.
        if type == JSONValue.self, let value = value as? T { return value }
        return try DecodingNode(value: value, options: DecodingOptions(options)).decodeWhole(type)
    }
}

/// What every node of one decoding shares.
final class DecodingOptions {
    let coding: CodingOptions
    /// nil where keys stay as they are.
    let keys: CodedKeys?

    init(_ coding: CodingOptions) {
        self.coding = coding
        keys = coding.keys.converts ? CodedKeys(coding.keys) : nil
    }
}
