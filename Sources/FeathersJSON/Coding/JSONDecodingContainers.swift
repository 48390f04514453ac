/// The container for an object, read by a model's coding keys.
package struct JSONKeyedDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    /// The only stored property, so that each copy the standard library makes costs one reference.
    let node: DecodingNode

    package var codingPath: [any CodingKey] { node.codingPath }

    /// The keys in the object's order, without those that the model does not declare.
    package var allKeys: [Key] {
        node.members?.storedEntries.compactMap { Key(stringValue: node.keys?.property(of: $0.key) ?? $0.key) } ?? []
    }

    package func contains(_ key: Key) -> Bool { node.position(of: key.stringValue) != nil }

    @inline(__always)
    func value(for key: some CodingKey) throws -> JSONValue {
        guard let value = node.value(of: key.stringValue) else {
            let name = node.keys?.key(of: key.stringValue) ?? key.stringValue
            throw DecodingError.keyNotFound(
                key,
                DecodingError.Context(codingPath: codingPath, debugDescription: "No value for the key \"\(name)\"."))
        }
        return value
    }

    /// Returns the value for a key; nil if it is missing or null.
    @inline(__always)
    func presentValue(for key: Key) -> JSONValue? {
        guard let value = node.value(of: key.stringValue), !value.isNull else { return nil }
        return value
    }

    package func decodeNil(forKey key: Key) throws -> Bool { try value(for: key).isNull }

    package func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try node.decode(type, from: value(for: key), at: .key(key))
    }

    package func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        try presentValue(for: key).map { try node.decode(type, from: $0, at: .key(key)) }
    }

    package func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type, forKey key: Key) throws
        -> KeyedDecodingContainer<
            NestedKey
        >
    {
        try DecodingNode(value(for: key), parent: node, step: .key(key)).container(keyedBy: type)
    }

    package func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try DecodingNode(value(for: key), parent: node, step: .key(key)).unkeyedContainer()
    }

    /// Returns the decoder for the values that a superclass encoded. A missing value is null, as with `JSONDecoder`.
    package func superDecoder() throws -> any Decoder { superDecoder(for: JSONKey.parent) }
    package func superDecoder(forKey key: Key) throws -> any Decoder { superDecoder(for: key) }

    private func superDecoder(for key: some CodingKey) -> DecodingNode {
        DecodingNode(node.value(of: key.stringValue) ?? .null, parent: node, step: .key(key))
    }
}

/// The primitive types, decoded without a node of their own.
extension JSONKeyedDecodingContainer {
    package func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try node.bool(from: value(for: key), at: .key(key))
    }
    package func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try node.string(from: value(for: key), at: .key(key))
    }
    package func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try node.double(from: value(for: key), at: .key(key))
    }
    package func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try node.float(from: value(for: key), at: .key(key))
    }
    package func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(key) }
    package func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(key) }
    package func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(key) }
    package func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(key) }
    package func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(key) }
    package func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try integer(key) }
    package func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try integer(key) }
    package func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(key) }
    package func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(key) }
    package func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(key) }
    package func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(key) }
    package func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(key) }

    // The standard library's default implementations, which the other types use, look up the key three times.
    package func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try presentValue(for: key).map { try node.bool(from: $0, at: .key(key)) }
    }

    package func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try presentValue(for: key).map { try node.string(from: $0, at: .key(key)) }
    }

    package func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try presentValue(for: key).map { try node.double(from: $0, at: .key(key)) }
    }

    package func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try presentInteger(key) }
    package func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try presentInteger(key) }
    package func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try presentInteger(key) }

    @inline(__always)
    private func integer<T: FixedWidthInteger>(_ key: Key) throws -> T {
        try node.integer(from: value(for: key), as: T.self, at: .key(key))
    }

    @inline(__always)
    private func presentInteger<T: FixedWidthInteger>(_ key: Key) throws -> T? {
        try presentValue(for: key).map { try node.integer(from: $0, as: T.self, at: .key(key)) }
    }
}

/// The container for an array, read from its first element to its last.
struct JSONUnkeyedDecodingContainer: UnkeyedDecodingContainer {
    let node: DecodingNode
    private let elements: [JSONValue]
    private(set) var currentIndex = 0

    init(node: DecodingNode, elements: [JSONValue]) { (self.node, self.elements) = (node, elements) }

    var codingPath: [any CodingKey] { node.codingPath }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }

    /// Reads the current element and advances if that succeeds.
    @inline(__always)
    private mutating func next<T>(_ type: T.Type, _ read: (DecodingNode, JSONValue, Int) throws -> T) throws -> T {
        guard currentIndex < elements.count else {
            throw DecodingError.valueNotFound(
                type,
                DecodingError.Context(
                    codingPath: node.path(to: .index(currentIndex)), debugDescription: "The array has no more elements."
                ))
        }
        let result = try read(node, elements[currentIndex], currentIndex)
        currentIndex += 1
        return result
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd else { return try next(Any?.self) { _, _, _ in nil } == nil }
        guard elements[currentIndex].isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try next(type) { try $0.decode(type, from: $1, at: .index($2)) }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) throws -> KeyedDecodingContainer<
        NestedKey
    > {
        try nextNode(KeyedDecodingContainer<NestedKey>.self) { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try nextNode((any UnkeyedDecodingContainer).self) { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try nextNode((any Decoder).self) { $0 } }

    private mutating func nextNode<T>(_ type: T.Type, _ read: (DecodingNode) throws -> T) throws -> T {
        try next(type) { try read(DecodingNode($1, parent: $0, step: .index($2))) }
    }
}

/// The primitive types, decoded without a node of their own.
extension JSONUnkeyedDecodingContainer {
    mutating func decode(_ type: Bool.Type) throws -> Bool { try next(type) { try $0.bool(from: $1, at: .index($2)) } }
    mutating func decode(_ type: String.Type) throws -> String {
        try next(type) { try $0.string(from: $1, at: .index($2)) }
    }
    mutating func decode(_ type: Double.Type) throws -> Double {
        try next(type) { try $0.double(from: $1, at: .index($2)) }
    }
    mutating func decode(_ type: Float.Type) throws -> Float {
        try next(type) { try $0.float(from: $1, at: .index($2)) }
    }
    mutating func decode(_ type: Int.Type) throws -> Int {
        try next(type) { try $0.integer(from: $1, as: type, at: .index($2)) }
    }
    mutating func decode(_ type: Int8.Type) throws -> Int8 {
        try next(type) { try $0.integer(from: $1, as: type, at: .index($2)) }
    }
    mutating func decode(_ type: Int16.Type) throws -> Int16 {
        try next(type) { try $0.integer(from: $1, as: type, at: .index($2)) }
    }
    mutating func decode(_ type: Int32.Type) throws -> Int32 {
        try next(type) { try $0.integer(from: $1, as: type, at: .index($2)) }
    }
    mutating func decode(_ type: Int64.Type) throws -> Int64 {
        try next(type) { try $0.integer(from: $1, as: type, at: .index($2)) }
    }
    mutating func decode(_ type: Int128.Type) throws -> Int128 {
        try next(type) { try $0.integer(from: $1, as: type, at: .index($2)) }
    }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 {
        try next(type) { try $0.integer(from: $1, as: type, at: .index($2)) }
    }
    mutating func decode(_ type: UInt.Type) throws -> UInt {
        try next(type) { try $0.integer(from: $1, as: type, at: .index($2)) }
    }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
        try next(type) { try $0.integer(from: $1, as: type, at: .index($2)) }
    }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
        try next(type) { try $0.integer(from: $1, as: type, at: .index($2)) }
    }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
        try next(type) { try $0.integer(from: $1, as: type, at: .index($2)) }
    }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
        try next(type) { try $0.integer(from: $1, as: type, at: .index($2)) }
    }
}
