/// Decodes models from a `JSONValue` or a JSON text.
///
/// It decodes what `JSONDecoder` decodes, and throws the same errors with the same coding paths, with these differences: dates
/// are ISO 8601 by default, integers beyond `Int64` are refused since a `JSONValue` cannot hold them exactly, and a `Decimal`
/// may also be a string, as databases send it.
public struct JSONValueDecoder: Sendable {
    /// The formats of dates, data, keys and numbers.
    public var options: CodingOptions

    /// Creates a decoder, which several tasks may use at once.
    public init(_ options: CodingOptions = CodingOptions()) { self.options = options }

    /// Decodes a model from a value. A `JSONValue` or `JSONObject` is returned unchanged.
    ///
    /// - Throws: `DecodingError`, and whatever the model's own `init(from:)` throws.
    public func decode<T: Decodable>(_ type: T.Type = T.self, from value: JSONValue) throws -> T {
        // The most common "model" needs no decoder.
        if type == JSONValue.self, let value = value as? T { return value }
        return try DecodingNode(source: .tree(value), options: SharedOptions(options)).decodeWhole(type)
    }

    /// Decodes a model from a JSON text.
    ///
    /// The text is decoded without building a tree of values, unless an object has repeated, escaped or more than 32 keys.
    /// - Parameters:
    ///   - type: the type of the model.
    ///   - bytes: the whole text in UTF-8, without a byte order mark.
    /// - Throws: `JSONParsingError` if the bytes are not JSON, or nested deeper than ``JSONValue/defaultMaximumDepth``; otherwise what
    ///   ``decode(_:from:)`` throws.
    public func decode<T: Decodable>(_ type: T.Type = T.self, parsing bytes: [UInt8]) throws -> T {
        if type == JSONValue.self, let value = try JSONValue(parsing: bytes) as? T { return value }
        guard let tape = try JSONTape.marking(bytes) else { return try decode(type, from: JSONValue(parsing: bytes)) }
        return try decode(type, from: tape)
    }

    package func decode<T: Decodable>(_ type: T.Type, from tape: JSONTape) throws -> T {
        try DecodingNode(source: .text(tape.root), options: SharedOptions(options, tape: tape)).decodeWhole(type)
    }
}

/// Decodes the records of one list, each as if it were a value of its own.
///
/// The records of a list mostly have their keys at the same positions, which the decoder remembers. It converts each property name only once.
package struct JSONListDecoder {
    /// The parent of every record's node. It remembers the positions of keys; its own value is never read.
    private let list: DecodingNode

    package init(_ options: CodingOptions, text: JSONTape) {
        list = DecodingNode(source: .text(text.root), options: SharedOptions(options, tape: text))
    }

    package init(_ options: CodingOptions) {
        list = DecodingNode(source: .tree(.null), options: SharedOptions(options))
    }

    package func decode<T: Decodable>(_ type: T.Type, from record: JSONValue) throws -> T {
        try decode(type, from: .tree(record))
    }

    /// Decodes one record. A record in a text must be of the text that the decoder was made for.
    package func decode<T: Decodable>(_ type: T.Type, from record: DecodingSource) throws -> T {
        try DecodingNode(source: record, parent: list, step: .root).decodeWhole(type)
    }
}

/// What all nodes of one encoding or decoding share.
final class SharedOptions {
    let coding: CodingOptions
    /// Converts property names to keys; nil if names do not change.
    let keys: CodedKeys?
    /// Keeps alive what the nodes' cursors point into.
    private let tape: JSONTape?

    init(_ coding: CodingOptions, tape: JSONTape? = nil) {
        self.coding = coding
        self.tape = tape
        keys = coding.keys.converts ? CodedKeys(coding.keys) : nil
    }
}
