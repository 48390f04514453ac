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
        return try DecodingNode(source: .tree(value), options: DecodingOptions(options)).decodeWhole(type)
    }

    /// Decodes a model from a JSON text.
    ///
    /// The tree of values is not built in between, unless an object has repeated, escaped or more than 32 keys.
    /// - Parameters:
    ///   - type: the model.
    ///   - bytes: the whole text in UTF-8, without a byte order mark.
    /// - Throws: `JSONParsingError` where the bytes are no JSON, or nested deeper than ``JSONValue/defaultMaximumDepth``; else what
    ///   ``decode(_:from:)`` throws.
    public func decode<T: Decodable>(_ type: T.Type = T.self, parsing bytes: [UInt8]) throws -> T {
        if type == JSONValue.self, let value = try JSONValue(parsing: bytes) as? T { return value }
        guard let text = try JSONTape.marking(bytes) else { return try decode(type, from: JSONValue(parsing: bytes)) }
        return try decode(type, from: text)
    }

    /// Decodes a model from a text that has been marked.
    package func decode<T: Decodable>(_ type: T.Type, from text: JSONTape) throws -> T {
        try DecodingNode(source: .text(text.root), options: DecodingOptions(options, text: text)).decodeWhole(type)
    }
}
