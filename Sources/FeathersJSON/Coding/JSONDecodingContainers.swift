/// An object, read by a model's keys.
struct JSONKeyedDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    /// The only property, so that the standard library's copies of the container cost one reference.
    let node: DecodingNode

    var codingPath: [any CodingKey] { node.codingPath }

    /// The keys in the object's order, without those the model does not know.
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

    /// The value of a key; nil if it is missing or null.
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

    /// The decoder for what a superclass encoded. A missing value is null, as with `JSONDecoder`.
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

/// The primitives, each without a node of its own.
extension JSONKeyedDecodingContainer {
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try node.bool(from: value(for: key), at: .key(key))
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.bool(from: value, at: .key(key))
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try node.string(from: value(for: key), at: .key(key))
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.string(from: value, at: .key(key))
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try node.double(from: value(for: key), at: .key(key))
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.double(from: value, at: .key(key))
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try node.float(from: value(for: key), at: .key(key))
    }

    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.float(from: value, at: .key(key))
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        try node.integer(from: value(for: key), as: type, at: .key(key))
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.integer(from: value, as: type, at: .key(key))
    }

    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
        try node.integer(from: value(for: key), as: type, at: .key(key))
    }

    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.integer(from: value, as: type, at: .key(key))
    }

    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
        try node.integer(from: value(for: key), as: type, at: .key(key))
    }

    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.integer(from: value, as: type, at: .key(key))
    }

    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
        try node.integer(from: value(for: key), as: type, at: .key(key))
    }

    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.integer(from: value, as: type, at: .key(key))
    }

    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        try node.integer(from: value(for: key), as: type, at: .key(key))
    }

    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.integer(from: value, as: type, at: .key(key))
    }

    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
        try node.integer(from: value(for: key), as: type, at: .key(key))
    }

    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.integer(from: value, as: type, at: .key(key))
    }

    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
        try node.integer(from: value(for: key), as: type, at: .key(key))
    }

    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.integer(from: value, as: type, at: .key(key))
    }

    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        try node.integer(from: value(for: key), as: type, at: .key(key))
    }

    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.integer(from: value, as: type, at: .key(key))
    }

    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        try node.integer(from: value(for: key), as: type, at: .key(key))
    }

    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.integer(from: value, as: type, at: .key(key))
    }

    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        try node.integer(from: value(for: key), as: type, at: .key(key))
    }

    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        guard let value = presentValue(for: key) else { return nil }
        return try node.integer(from: value, as: type, at: .key(key))
    }
}

/// An array read from its first element to its last.
struct JSONUnkeyedDecodingContainer: UnkeyedDecodingContainer {
    let node: DecodingNode
    private let elements: DecodingElements
    private var position: Int
    private(set) var currentIndex = 0
    let count: Int?

    init(node: DecodingNode, elements: DecodingElements) {
        self.node = node
        self.elements = elements
        position = elements.firstPosition
        // Counted once, since loops ask for it every time.
        count = elements.count
    }

    var codingPath: [any CodingKey] { node.codingPath }
    var isAtEnd: Bool { elements.element(at: position) == nil }

    /// Reads the current element and, if that succeeds, advances.
    @inline(__always)
    mutating func next<T>(_ type: T.Type, _ read: (DecodingSource) throws -> T) throws -> T {
        guard let element = elements.element(at: position) else {
            throw DecodingError.valueNotFound(
                type,
                DecodingError.Context(codingPath: node.path(to: .index(currentIndex)), debugDescription: "The array has no more elements."))
        }
        let result = try read(element)
        advance()
        return result
    }

    mutating func decodeNil() throws -> Bool {
        guard let element = elements.element(at: position) else { return try next(Any?.self) { _ in nil } == nil }
        guard element.isNull else { return false }
        advance()
        return true
    }

    @inline(__always)
    private mutating func advance() {
        position = elements.position(after: position)
        currentIndex += 1
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let (node, index) = (node, currentIndex)
        return try next(type) { try node.decode(type, from: $0, at: .index(index)) }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) throws -> KeyedDecodingContainer<NestedKey> {
        try nextNode(KeyedDecodingContainer<NestedKey>.self) { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try nextNode((any UnkeyedDecodingContainer).self) { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder {
        try nextNode((any Decoder).self) { $0 }
    }

    private mutating func nextNode<T>(_ type: T.Type, _ read: (DecodingNode) throws -> T) throws -> T {
        let (node, index) = (node, currentIndex)
        return try next(type) { try read(DecodingNode(source: $0, parent: node, step: .index(index))) }
    }
}

/// The primitives, each without a node of its own.
extension JSONUnkeyedDecodingContainer {
    mutating func decode(_ type: Bool.Type) throws -> Bool {
        let (node, index) = (node, currentIndex)
        return try next(type) { try node.bool(from: $0, at: .index(index)) }
    }

    mutating func decode(_ type: String.Type) throws -> String {
        let (node, index) = (node, currentIndex)
        return try next(type) { try node.string(from: $0, at: .index(index)) }
    }

    mutating func decode(_ type: Double.Type) throws -> Double {
        let (node, index) = (node, currentIndex)
        return try next(type) { try node.double(from: $0, at: .index(index)) }
    }

    mutating func decode(_ type: Float.Type) throws -> Float {
        let (node, index) = (node, currentIndex)
        return try next(type) { try node.float(from: $0, at: .index(index)) }
    }

    mutating func decode(_ type: Int.Type) throws -> Int {
        let (node, index) = (node, currentIndex)
        return try next(type) { try node.integer(from: $0, as: type, at: .index(index)) }
    }

    mutating func decode(_ type: Int8.Type) throws -> Int8 {
        let (node, index) = (node, currentIndex)
        return try next(type) { try node.integer(from: $0, as: type, at: .index(index)) }
    }

    mutating func decode(_ type: Int16.Type) throws -> Int16 {
        let (node, index) = (node, currentIndex)
        return try next(type) { try node.integer(from: $0, as: type, at: .index(index)) }
    }

    mutating func decode(_ type: Int32.Type) throws -> Int32 {
        let (node, index) = (node, currentIndex)
        return try next(type) { try node.integer(from: $0, as: type, at: .index(index)) }
    }

    mutating func decode(_ type: Int64.Type) throws -> Int64 {
        let (node, index) = (node, currentIndex)
        return try next(type) { try node.integer(from: $0, as: type, at: .index(index)) }
    }

    mutating func decode(_ type: UInt.Type) throws -> UInt {
        let (node, index) = (node, currentIndex)
        return try next(type) { try node.integer(from: $0, as: type, at: .index(index)) }
    }

    mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
        let (node, index) = (node, currentIndex)
        return try next(type) { try node.integer(from: $0, as: type, at: .index(index)) }
    }

    mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
        let (node, index) = (node, currentIndex)
        return try next(type) { try node.integer(from: $0, as: type, at: .index(index)) }
    }

    mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
        let (node, index) = (node, currentIndex)
        return try next(type) { try node.integer(from: $0, as: type, at: .index(index)) }
    }

    mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
        let (node, index) = (node, currentIndex)
        return try next(type) { try node.integer(from: $0, as: type, at: .index(index)) }
    }
}
