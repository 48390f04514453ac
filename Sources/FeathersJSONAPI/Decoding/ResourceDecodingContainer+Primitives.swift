import FeathersCore

/// The primitives but strings, which differ in their types alone.
extension ResourceDecodingContainer {
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try attributes.decode(type, forKey: node.pool.wireKey(key.stringValue))
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try attributes.decodeIfPresent(type, forKey: node.pool.wireKey(key.stringValue))
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try attributes.decode(type, forKey: node.pool.wireKey(key.stringValue))
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try attributes.decodeIfPresent(type, forKey: node.pool.wireKey(key.stringValue))
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try attributes.decode(type, forKey: node.pool.wireKey(key.stringValue))
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        try integer(key) { try attributes.decode(type, forKey: $0) }
    }

    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
        try integer(key) { try attributes.decode(type, forKey: $0) }
    }

    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
        try integer(key) { try attributes.decode(type, forKey: $0) }
    }

    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
        try integer(key) { try attributes.decode(type, forKey: $0) }
    }

    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        try integer(key) { try attributes.decode(type, forKey: $0) }
    }

    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
        try integer(key) { try attributes.decode(type, forKey: $0) }
    }

    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
        try integer(key) { try attributes.decode(type, forKey: $0) }
    }

    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        try integer(key) { try attributes.decode(type, forKey: $0) }
    }

    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        try integer(key) { try attributes.decode(type, forKey: $0) }
    }

    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        try integer(key) { try attributes.decode(type, forKey: $0) }
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        guard key.stringValue != "id" else { return node.resource.id == nil ? nil : try decode(type, forKey: key) }
        return try attributes.decodeIfPresent(type, forKey: node.pool.wireKey(key.stringValue))
    }

    /// An integer of an attribute, or the number in the resource's id.
    private func integer<T: FixedWidthInteger>(_ key: Key, _ attribute: (WireKey) throws -> T) throws -> T {
        guard key.stringValue == "id" else { return try attribute(node.pool.wireKey(key.stringValue)) }
        guard let id = node.resource.id else {
            throw DecodingError.keyNotFound(
                WireKey("id"), DecodingError.Context(codingPath: [], debugDescription: "The resource has none."))
        }
        guard let integer = T(id) else {
            throw DecodingError.typeMismatch(
                T.self, DecodingError.Context(codingPath: [WireKey("id")], debugDescription: "The id is no \(T.self)."))
        }
        return integer
    }
}

/// Containers inside, for models that decode themselves.
extension ResourceDecodingContainer {
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        try superDecoder(forKey: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try superDecoder(forKey: key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        node
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        let name = node.pool.wireKey(key.stringValue)
        if let json = node.resource.relationships.json[name.stringValue] { return RelationshipNode(json, key: name, of: node) }
        return try attributes.superDecoder(forKey: name)
    }
}
