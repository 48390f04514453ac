/// An object seen through a model's keys.
struct JSONKeyedDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let node: DecodingNode
    let object: JSONObject

    var codingPath: [any CodingKey] { node.codingPath }

    /// In the object's order, without those the model does not know.
    var allKeys: [Key] { object.entries.compactMap { Key(stringValue: node.keys?.property(of: $0.key) ?? $0.key) } }

    func contains(_ key: Key) -> Bool {
        node.position(of: key.stringValue, in: object) != nil
    }

    @inline(__always)
    func value(for key: some CodingKey) throws -> JSONValue {
        guard let value = node.value(of: key.stringValue, in: object) else {
            let name = node.keys?.key(of: key.stringValue) ?? key.stringValue
            throw DecodingError.keyNotFound(
                key, DecodingError.Context(codingPath: codingPath, debugDescription: "No value for the key \"\(name)\"."))
        }
        return value
    }

    /// The value of a key; nil where it is missing and where it is null.
    @inline(__always)
    func presentValue(for key: Key) -> JSONValue? {
        guard let value = node.value(of: key.stringValue, in: object) else { return nil }
        if case .null = value { return nil }
        return value
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
        try DecodingNode(value: value(for: key), parent: node, step: .key(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try DecodingNode(value: value(for: key), parent: node, step: .key(key)).unkeyedContainer()
    }

    /// The decoder for what a superclass has encoded; a missing value is null, as with `JSONDecoder`.
    func superDecoder() throws -> any Decoder {
        superDecoder(for: JSONKey.parent)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        superDecoder(for: key)
    }

    private func superDecoder(for key: some CodingKey) -> DecodingNode {
        let position = node.position(of: key.stringValue, in: object)
        return DecodingNode(value: position.map { object.entries[$0].value } ?? .null, parent: node, step: .key(key))
    }
}
