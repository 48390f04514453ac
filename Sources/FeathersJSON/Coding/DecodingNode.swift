/// The decoder that a model sees: a value and the path to it.
final class DecodingNode: Decoder {
    let source: DecodingSource
    let options: SharedOptions
    let parent: DecodingNode?
    private let step: CodingPathStep
    /// Converts property names to this object's keys; nil if names do not change.
    var keys: CodedKeys?

    /// The members of this value; set once it is known to be an object.
    var members: DecodingMembers?
    /// The number of members that the model has looked up.
    var lookUps = 0
    /// The first guess for the next member: most models look up members in the order they were written.
    var expectedPosition = 0
    /// The second guess, which a list stores for its objects: the position at which each lookup found its member in earlier objects.
    var positionsInside: [Int] = []
    /// The positions of members by property name. Built when a property is not found under the key that encoding would write.
    var positionsByProperty: [String: Int]?

    init(source: DecodingSource, options: SharedOptions) {
        self.source = source
        self.options = options
        keys = options.keys
        parent = nil
        step = .root
    }

    init(source: DecodingSource, parent: DecodingNode, step: CodingPathStep) {
        self.source = source
        self.options = parent.options
        keys = parent.options.keys
        self.parent = parent
        self.step = step
    }

    /// Built on access, because only errors usually need it.
    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var node: DecodingNode? = self
        while let current = node {
            if let key = current.step.codingKey { path.append(key) }
            node = current.parent
        }
        return path.reversed()
    }

    var userInfo: [CodingUserInfoKey: Any] { options.coding.userInfo }

    func path(to step: CodingPathStep) -> [any CodingKey] {
        guard let key = step.codingKey else { return codingPath }
        return codingPath + [key]
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(try members(keyedBy: type))
    }

    func members<Key: CodingKey>(keyedBy type: Key.Type) throws -> JSONKeyedDecodingContainer<Key> {
        if members == nil {
            guard let members = source.members else { throw mismatch([String: Any].self, source, at: .root) }
            self.members = members
            expectedPosition = members.firstPosition
        }
        // A JSONKey can be any key of a JSON object, not a model's property.
        if keys != nil, type == JSONKey.self { keys = nil }
        return JSONKeyedDecodingContainer(node: self)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let elements = source.elements else { throw mismatch([Any].self, source, at: .root) }
        return JSONUnkeyedDecodingContainer(node: self, elements: elements)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    @inline(__always)
    func value(of property: String) -> DecodingSource? {
        guard let members, let position = find(property, in: members) else { return nil }
        expectedPosition = members.position(after: position)
        return members.value(at: position)
    }

    func position(of property: String) -> Int? { members.flatMap { find(property, in: $0) } }

    @inline(__always)
    private func find(_ property: String, in members: DecodingMembers) -> Int? {
        guard let keys else { return find(key: property, in: members) }
        return find(key: keys.key(of: property), in: members) ?? position(of: property, readBy: keys, in: members)
    }

    /// Finds a key. Records of a list are usually alike, so a key that is not at the expected position may be where it was in the previous record.
    @inline(__always)
    private func find(key: String, in members: DecodingMembers) -> Int? {
        let lookUp = lookUps
        lookUps = lookUp &+ 1
        if members.hasMember(key, at: expectedPosition) { return expectedPosition }
        return findElsewhere(key, lookUp, in: members)
    }

    private func findElsewhere(_ key: String, _ lookUp: Int, in members: DecodingMembers) -> Int? {
        // An object's other members are of other types, so their positions don't help.
        guard let parent, parent.members == nil else { return members.position(of: key) }
        let positions = parent.positionsInside
        if lookUp < positions.count, members.hasMember(key, at: positions[lookUp]) { return positions[lookUp] }
        guard let position = members.position(of: key) else { return nil }
        while parent.positionsInside.count <= lookUp { parent.positionsInside.append(position) }
        parent.positionsInside[lookUp] = position
        return position
    }

    /// Returns the position of a member whose key is spelled differently from the one encoding writes.
    private func position(of property: String, readBy keys: CodedKeys, in members: DecodingMembers) -> Int? {
        if positionsByProperty == nil {
            positionsByProperty = Dictionary(members.names.map { (keys.property(of: $0.name), $0.position) }) { first, _ in first }
        }
        return positionsByProperty?[property]
    }

    @inline(__always)
    func bool(from source: DecodingSource, at step: @autoclosure () -> CodingPathStep) throws -> Bool {
        guard let bool = source.bool else { throw mismatch(Bool.self, source, at: step()) }
        return bool
    }

    @inline(__always)
    func string(from source: DecodingSource, at step: @autoclosure () -> CodingPathStep) throws -> String {
        guard let string = source.string else { throw mismatch(String.self, source, at: step()) }
        return string
    }

    /// Returns the value as an integer, including one written as `1.0`.
    @inline(__always)
    func integer<T: FixedWidthInteger>(from source: DecodingSource, as type: T.Type, at step: @autoclosure () -> CodingPathStep) throws -> T
    {
        if let integer = source.integer, let exact = T(exactly: integer) { return exact }
        guard let value = source.scalar else { throw mismatch(type, source, at: step()) }
        return try integerOffTheFastPath(from: value, as: type, at: step())
    }

    private func integerOffTheFastPath<T: FixedWidthInteger>(from value: JSONValue, as type: T.Type, at step: CodingPathStep) throws -> T {
        switch value {
        case .number(let number):
            // Beyond Int64 the parsed number is already rounded, even if it appears to fit a UInt64.
            if let integer = Int64(exactly: number), let exact = T(exactly: integer) { return exact }
            throw corrupted("The number \(value) does not fit \(type).", at: step)
        case .integer: throw corrupted("The number \(value) does not fit \(type).", at: step)
        default: throw mismatch(type, .tree(value), at: step)
        }
    }

    @inline(__always)
    func double(from source: DecodingSource, at step: @autoclosure () -> CodingPathStep) throws -> Double {
        if let number = source.number { return number }
        if let integer = source.integer { return Double(integer) }
        return try nonFinite(from: source, as: Double.self, at: step())
    }

    private func nonFinite<T: BinaryFloatingPoint>(from source: DecodingSource, as type: T.Type, at step: CodingPathStep) throws -> T {
        guard let number = source.scalar.flatMap(options.coding.nonConformingFloats.number) else { throw mismatch(type, source, at: step) }
        return T(number)
    }

    @inline(__always)
    func float(from source: DecodingSource, at step: @autoclosure () -> CodingPathStep) throws -> Float {
        if let integer = source.integer { return Float(integer) }
        guard let number = source.number else { return try nonFinite(from: source, as: Float.self, at: step()) }
        let float = Float(number)
        guard float.isFinite || !number.isFinite else { throw corrupted("The number \(source.json) does not fit Float.", at: step()) }
        return float
    }

    /// Decodes any other type: one with its own JSON form, or a model that decodes itself.
    func decode<T: Decodable>(_ type: T.Type, from source: DecodingSource, at step: @autoclosure () -> CodingPathStep) throws -> T {
        let special = SpecialType(type)
        guard special == .none else { return try decode(special, as: type, from: source, at: step()) }
        if type == [String].self, let strings = source.strings { return identity(strings, as: type) }
        let node = DecodingNode(source: source, parent: self, step: step())
        if node.keys != nil, type is any DictionaryOfStrings.Type { node.keys = nil }
        return try T(from: node)
    }

    /// Decodes this node's own value without creating another node.
    func decodeWhole<T: Decodable>(_ type: T.Type) throws -> T {
        let special = SpecialType(type)
        guard special == .none else { return try decode(special, as: type, from: source, at: .root) }
        guard let keys, type is any DictionaryOfStrings.Type else { return try T(from: self) }
        self.keys = nil
        defer { self.keys = keys }
        return try T(from: self)
    }
}

/// The node is its own single-value container, which saves an allocation per value.
extension DecodingNode: SingleValueDecodingContainer {
    func decodeNil() -> Bool { source.isNull }

    func decode<T: Decodable>(_ type: T.Type) throws -> T { try decodeWhole(type) }
    func decode(_ type: Bool.Type) throws -> Bool { try bool(from: source, at: .root) }
    func decode(_ type: String.Type) throws -> String { try string(from: source, at: .root) }
    func decode(_ type: Double.Type) throws -> Double { try double(from: source, at: .root) }
    func decode(_ type: Float.Type) throws -> Float { try float(from: source, at: .root) }
    func decode(_ type: Int.Type) throws -> Int { try integer(from: source, as: type, at: .root) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(from: source, as: type, at: .root) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(from: source, as: type, at: .root) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(from: source, as: type, at: .root) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(from: source, as: type, at: .root) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(from: source, as: type, at: .root) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(from: source, as: type, at: .root) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(from: source, as: type, at: .root) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(from: source, as: type, at: .root) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(from: source, as: type, at: .root) }
}

extension DecodingNode {
    /// Returns the error for a value of the wrong kind. Null is reported as a missing value.
    func mismatch(_ type: any Any.Type, _ source: DecodingSource, at step: CodingPathStep) -> DecodingError {
        let description = "Expected \(type) but found \(source.isNull ? "null" : source.kindName) instead."
        let context = DecodingError.Context(codingPath: path(to: step), debugDescription: description)
        return source.isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    /// Returns the error for a value of the right kind that is not valid.
    func corrupted(_ description: String, at step: CodingPathStep, underlying: (any Error)? = nil) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: path(to: step), debugDescription: description, underlyingError: underlying))
    }
}

extension JSONValue {
    /// The kind of value, for messages that must not contain the value itself.
    var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
