/// An array that elements are appended to.
struct JSONUnkeyedEncodingContainer: UnkeyedEncodingContainer {
    let node: EncodingNode

    var codingPath: [any CodingKey] { node.codingPath }
    var count: Int { node.array.count }

    mutating func encodeNil() {
        node.array.append(.null)
    }

    mutating func encode<T: Encodable>(_ value: T) throws {
        node.array.append(try node.encode(value, at: .index(count)))
    }

    mutating func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
        node.unfinishedElement().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        node.unfinishedElement().unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder {
        node.unfinishedElement()
    }
}

/// The primitives, each without a node of its own.
extension JSONUnkeyedEncodingContainer {
    mutating func encode(_ value: Bool) throws {
        node.array.append(.bool(value))
    }

    mutating func encode(_ value: String) throws {
        node.array.append(.string(value))
    }

    mutating func encode(_ value: Double) throws {
        node.array.append(try node.double(value, at: .index(count)))
    }

    mutating func encode(_ value: Float) throws {
        node.array.append(try node.float(value, at: .index(count)))
    }

    mutating func encode(_ value: Int) throws {
        node.array.append(try node.integer(value, at: .index(count)))
    }

    mutating func encode(_ value: Int8) throws {
        node.array.append(try node.integer(value, at: .index(count)))
    }

    mutating func encode(_ value: Int16) throws {
        node.array.append(try node.integer(value, at: .index(count)))
    }

    mutating func encode(_ value: Int32) throws {
        node.array.append(try node.integer(value, at: .index(count)))
    }

    mutating func encode(_ value: Int64) throws {
        node.array.append(try node.integer(value, at: .index(count)))
    }

    mutating func encode(_ value: UInt) throws {
        node.array.append(try node.integer(value, at: .index(count)))
    }

    mutating func encode(_ value: UInt8) throws {
        node.array.append(try node.integer(value, at: .index(count)))
    }

    mutating func encode(_ value: UInt16) throws {
        node.array.append(try node.integer(value, at: .index(count)))
    }

    mutating func encode(_ value: UInt32) throws {
        node.array.append(try node.integer(value, at: .index(count)))
    }

    mutating func encode(_ value: UInt64) throws {
        node.array.append(try node.integer(value, at: .index(count)))
    }
}
