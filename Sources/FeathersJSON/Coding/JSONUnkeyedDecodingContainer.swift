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
        // Once, since loops ask again and again.
        count = elements.count
    }

    var codingPath: [any CodingKey] { node.codingPath }
    var isAtEnd: Bool { elements.element(at: position) == nil }

    /// Reads the current element and moves on, unless that throws.
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
