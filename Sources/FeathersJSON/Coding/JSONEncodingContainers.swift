/// The container for an object, written by a model's coding keys.
struct JSONKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: EncodingNode

    var codingPath: [any CodingKey] { node.codingPath }

    mutating func encodeNil(forKey key: Key) { node.set(.null, forKey: key.stringValue) }

    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        node.set(try node.encode(value, at: .key(key)), forKey: key.stringValue)
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        node.unfinishedNode(forKey: key).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        node.unfinishedNode(forKey: key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { node.unfinishedNode(forKey: JSONKey.parent) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { node.unfinishedNode(forKey: key) }
}

/// The primitive types, encoded without a node of their own.
extension JSONKeyedEncodingContainer {
    mutating func encode(_ value: Bool, forKey key: Key) throws { node.set(.bool(value), forKey: key.stringValue) }
    mutating func encode(_ value: String, forKey key: Key) throws { node.set(.string(value), forKey: key.stringValue) }

    mutating func encode(_ value: Double, forKey key: Key) throws {
        node.set(try node.double(value, at: .key(key)), forKey: key.stringValue)
    }

    mutating func encode(_ value: Float, forKey key: Key) throws {
        node.set(try node.float(value, at: .key(key)), forKey: key.stringValue)
    }
    mutating func encode(_ value: Int, forKey key: Key) { encodeInteger(value, key) }
    mutating func encode(_ value: Int8, forKey key: Key) { encodeInteger(value, key) }
    mutating func encode(_ value: Int16, forKey key: Key) { encodeInteger(value, key) }
    mutating func encode(_ value: Int32, forKey key: Key) { encodeInteger(value, key) }
    mutating func encode(_ value: Int64, forKey key: Key) { encodeInteger(value, key) }
    mutating func encode(_ value: Int128, forKey key: Key) { encodeInteger(value, key) }
    mutating func encode(_ value: UInt128, forKey key: Key) { encodeInteger(value, key) }
    mutating func encode(_ value: UInt, forKey key: Key) { encodeInteger(value, key) }
    mutating func encode(_ value: UInt8, forKey key: Key) { encodeInteger(value, key) }
    mutating func encode(_ value: UInt16, forKey key: Key) { encodeInteger(value, key) }
    mutating func encode(_ value: UInt32, forKey key: Key) { encodeInteger(value, key) }
    mutating func encode(_ value: UInt64, forKey key: Key) { encodeInteger(value, key) }

    @inline(__always)
    private func encodeInteger(_ value: some FixedWidthInteger, _ key: Key) {
        node.set(JSONValue(integer: value), forKey: key.stringValue)
    }
}

/// The container for an array, to which elements are appended.
struct JSONUnkeyedEncodingContainer: UnkeyedEncodingContainer {
    let node: EncodingNode

    var codingPath: [any CodingKey] { node.codingPath }
    var count: Int { node.array.count }

    mutating func encodeNil() { node.array.append(.null) }

    mutating func encode<T: Encodable>(_ value: T) throws {
        node.array.append(try node.encode(value, at: .index(count)))
    }

    mutating func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) -> KeyedEncodingContainer<
        NestedKey
    > {
        node.unfinishedElement().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        node.unfinishedElement().unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { node.unfinishedElement() }
}

/// The primitive types, encoded without a node of their own.
extension JSONUnkeyedEncodingContainer {
    mutating func encode(_ value: Bool) throws { node.array.append(.bool(value)) }
    mutating func encode(_ value: String) throws { node.array.append(.string(value)) }
    mutating func encode(_ value: Double) throws { node.array.append(try node.double(value, at: .index(count))) }
    mutating func encode(_ value: Float) throws { node.array.append(try node.float(value, at: .index(count))) }
    mutating func encode(_ value: Int) { node.array.append(JSONValue(integer: value)) }
    mutating func encode(_ value: Int8) { node.array.append(JSONValue(integer: value)) }
    mutating func encode(_ value: Int16) { node.array.append(JSONValue(integer: value)) }
    mutating func encode(_ value: Int32) { node.array.append(JSONValue(integer: value)) }
    mutating func encode(_ value: Int64) { node.array.append(JSONValue(integer: value)) }
    mutating func encode(_ value: Int128) { node.array.append(JSONValue(integer: value)) }
    mutating func encode(_ value: UInt128) { node.array.append(JSONValue(integer: value)) }
    mutating func encode(_ value: UInt) { node.array.append(JSONValue(integer: value)) }
    mutating func encode(_ value: UInt8) { node.array.append(JSONValue(integer: value)) }
    mutating func encode(_ value: UInt16) { node.array.append(JSONValue(integer: value)) }
    mutating func encode(_ value: UInt32) { node.array.append(JSONValue(integer: value)) }
    mutating func encode(_ value: UInt64) { node.array.append(JSONValue(integer: value)) }
}
