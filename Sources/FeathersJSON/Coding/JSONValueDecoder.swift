/// Decodes models as ``CodingOptions`` specify.
package struct JSONValueDecoder: Sendable {
    private let options: CodingOptions

    package init(_ options: CodingOptions = CodingOptions()) { self.options = options }

    package func decode<T: Decodable>(_ type: T.Type, from value: JSONValue) throws -> T {
        // A JSONValue is the most common "model" and needs no decoder.
        if type == JSONValue.self { return identity(value, as: type) }
        return try DecodingNode(value, options: SharedOptions(options)).decodeWhole(type)
    }
}

/// Decodes the records of one list, each as if it were a separate value.
///
/// The records of a list usually have their keys at the same positions, which the decoder remembers. It converts each
/// property name only once.
package struct JSONListDecoder {
    /// The parent of every record's node. It stores the positions of keys; its own value is never read.
    private let list: DecodingNode

    package init(_ options: CodingOptions) { list = DecodingNode(.null, options: SharedOptions(options)) }

    package func decode<T: Decodable>(_ type: T.Type, from record: JSONValue) throws -> T {
        try DecodingNode(record, parent: list, step: .root).decodeWhole(type)
    }

    /// Returns the container of a record's members, for decoders that also look elsewhere.
    package func members<Key: CodingKey>(of record: JSONValue, keyedBy type: Key.Type) throws
        -> JSONKeyedDecodingContainer<Key>
    {
        try DecodingNode(record, parent: list, step: .root).members(keyedBy: type)
    }

    /// Returns the decoder of a record.
    package func decoder(of record: JSONValue) -> any Decoder { DecodingNode(record, parent: list, step: .root) }
}

/// The state that all nodes of one encoding or decoding share.
final class SharedOptions {
    let coding: CodingOptions
    /// Converts property names to keys; nil if names do not change.
    let keys: CodedKeys?

    init(_ coding: CodingOptions) {
        self.coding = coding
        keys = coding.keys.converts ? CodedKeys(coding.keys) : nil
    }
}
