/// Decodes models as ``CodingOptions`` specify, from a value, a text, or a tape.
package struct JSONValueDecoder: Sendable {
    private let options: CodingOptions

    package init(_ options: CodingOptions = CodingOptions()) { self.options = options }

    package func decode<T: Decodable>(_ type: T.Type, from value: JSONValue) throws -> T {
        // A JSONValue is the most common "model" and needs no decoder.
        if type == JSONValue.self { return identity(value, as: type) }
        return try DecodingNode(source: .tree(value), options: SharedOptions(options)).decodeWhole(type)
    }

    package func decode<T: Decodable>(_ type: T.Type, parsing bytes: [UInt8]) throws -> T {
        if type == JSONValue.self { return identity(try JSONValue(parsing: bytes), as: type) }
        guard let tape = try JSONTape.marking(bytes) else { return try decode(type, from: JSONValue(parsing: bytes)) }
        return try decode(type, from: tape)
    }

    package func decode<T: Decodable>(_ type: T.Type, from element: JSONElement) throws -> T {
        try DecodingNode(source: element.source, options: SharedOptions(options, tape: element.tape)).decodeWhole(type)
    }

    package func decode<T: Decodable>(_ type: T.Type, from tape: JSONTape) throws -> T {
        try DecodingNode(source: .text(tape.root), options: SharedOptions(options, tape: tape)).decodeWhole(type)
    }
}

/// Decodes the records of one list, each as if it were a separate value.
///
/// The records of a list usually have their keys at the same positions, which the decoder remembers. It converts each property name only once.
package struct JSONListDecoder {
    /// The parent of every record's node. It stores the positions of keys; its own value is never read.
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

    /// Returns the container of a record's members, for decoders that also look elsewhere.
    package func members<Key: CodingKey>(of record: DecodingSource, keyedBy type: Key.Type) throws -> JSONKeyedDecodingContainer<Key> {
        try DecodingNode(source: record, parent: list, step: .root).members(keyedBy: type)
    }

    /// Returns the decoder of a record.
    package func decoder(of record: DecodingSource) -> any Decoder { DecodingNode(source: record, parent: list, step: .root) }

    /// Decodes one record. A record from a text must belong to the text that the decoder was created for.
    package func decode<T: Decodable>(_ type: T.Type, from record: DecodingSource) throws -> T {
        try DecodingNode(source: record, parent: list, step: .root).decodeWhole(type)
    }
}

/// The state that all nodes of one encoding or decoding share.
final class SharedOptions {
    let coding: CodingOptions
    /// Converts property names to keys; nil if names do not change.
    let keys: CodedKeys?
    /// Keeps the memory alive that the nodes' cursors point into.
    private let tape: JSONTape?

    init(_ coding: CodingOptions, tape: JSONTape? = nil) {
        self.coding = coding
        self.tape = tape
        keys = coding.keys.converts ? CodedKeys(coding.keys) : nil
    }
}
