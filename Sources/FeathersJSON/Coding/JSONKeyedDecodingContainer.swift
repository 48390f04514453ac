/// An object seen through a model's keys.
struct JSONKeyedDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    /// Nothing else, so that the standard library's copies of this cost one reference.
    let node: DecodingNode

    var codingPath: [any CodingKey] { node.codingPath }

    /// In the object's order, without those the model does not know.
    var allKeys: [Key] { node.members?.names.compactMap { Key(stringValue: node.keys?.property(of: $0.name) ?? $0.name) } ?? [] }

    func contains(_ key: Key) -> Bool {
        node.position(of: key.stringValue) != nil
    }

    @inline(__always)
    func value(for key: some CodingKey) throws -> DecodingSource {
        guard let value = node.value(of: key.stringValue) else {
            let name = node.keys?.key(of: key.stringValue) ?? key.stringValue
            throw DecodingError.keyNotFound(
                key, DecodingError.Context(codingPath: codingPath, debugDescription: "No value for the key \"\(name)\"."))
        }
        return value
    }

    /// The value of a key; nil where it is missing and where it is null.
    @inline(__always)
    func presentValue(for key: Key) -> DecodingSource? {
        guard let value = node.value(of: key.stringValue) else { return nil }
        return value.isNull ? nil : value
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        try value(for: key).isNull
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try node.decode(type, from: value(for: key), at: .key(key))
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.decode(type, from: value, at: .key(key))
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try DecodingNode(source: value(for: key), parent: node, step: .key(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try DecodingNode(source: value(for: key), parent: node, step: .key(key)).unkeyedContainer()
    }

    /// The decoder for what a superclass has encoded; a missing value is null, as with `JSONDecoder`.
    func superDecoder() throws -> any Decoder {
        superDecoder(for: JSONKey.parent)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        superDecoder(for: key)
    }

    private func superDecoder(for key: some CodingKey) -> DecodingNode {
        DecodingNode(source: node.value(of: key.stringValue) ?? .tree(.null), parent: node, step: .key(key))
    }
}
