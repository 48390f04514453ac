extension PropertyProbe {
    /// A place in the model: whatever is asked for is there.
    struct Node: Decoder {
        let probe: PropertyProbe
        let codingPath: [any CodingKey]
        var userInfo: [CodingUserInfoKey: Any] { [:] }

        func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
            KeyedDecodingContainer(Keyed<Key>(node: self))
        }

        func unkeyedContainer() -> any UnkeyedDecodingContainer { Unkeyed(node: self) }

        func singleValueContainer() -> any SingleValueDecodingContainer { self }

        fileprivate func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
            if let value = probe.value(of: type, at: codingPath) { return value }
            probe.index(of: codingPath, type)
            return try Value(from: self)
        }

        fileprivate func child(_ key: any CodingKey) -> Node { Node(probe: probe, codingPath: codingPath + [key]) }
    }

    private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let node: Node
        var codingPath: [any CodingKey] { node.codingPath }
        var allKeys: [Key] { [] }

        func contains(_ key: Key) -> Bool { true }
        func decodeNil(forKey key: Key) -> Bool { false }
        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try node.child(key).decoded(type) }
        func superDecoder() -> any Decoder { node }
        func superDecoder(forKey key: Key) -> any Decoder { node.child(key) }
        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { Unkeyed(node: node.child(key)) }

        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedDecodingContainer<Nested> {
            node.child(key).container(keyedBy: type)
        }
    }

    /// A list with one element, which has the list's own path: it is the list that is a property.
    private struct Unkeyed: UnkeyedDecodingContainer {
        let node: Node
        var currentIndex = 0
        var codingPath: [any CodingKey] { node.codingPath }
        var count: Int? { 1 }
        var isAtEnd: Bool { currentIndex > 0 }

        init(node: Node) {
            self.node = node
        }

        func decodeNil() -> Bool { false }

        mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            currentIndex += 1
            return try node.decoded(type)
        }

        mutating func superDecoder() -> any Decoder { node }

        mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer {
            currentIndex += 1
            return node.unkeyedContainer()
        }

        mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedDecodingContainer<Nested> {
            currentIndex += 1
            return node.container(keyedBy: type)
        }
    }
}

extension PropertyProbe.Node: SingleValueDecodingContainer {
    func decodeNil() -> Bool { false }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoded(type) }
}
