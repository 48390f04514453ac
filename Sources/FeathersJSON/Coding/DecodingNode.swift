/// The decoder that a model sees: a value and the path to it.
final class DecodingNode: Decoder {
    let value: JSONValue
    let options: SharedOptions
    let parent: DecodingNode?
    private let step: CodingPathStep
    /// Converts property names to this object's keys; nil if names do not change.
    var keys: CodedKeys?

    /// The members of this value; set once it is known to be an object.
    var members: JSONObject?
    /// The number of members that the model has looked up.
    var lookUps = 0
    /// The first guess for the next member: most models look up members in the order they were written.
    var expectedPosition = 0
    /// The second guess, which a list stores for its objects: the position at which each lookup found its member in
    /// earlier objects.
    var positionsInside: [Int] = []
    /// The positions of members by property name. Built when a property is not found under the key that encoding would
    /// write.
    var positionsByProperty: [String: Int]?

    init(_ value: JSONValue, options: SharedOptions) {
        self.value = value
        self.options = options
        keys = options.keys
        parent = nil
        step = .root
    }

    init(_ value: JSONValue, parent: DecodingNode, step: CodingPathStep) {
        self.value = value
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
            guard case .object(let object) = value else { throw mismatch([String: Any].self, value, at: .root) }
            members = object
        }
        // A JSONKey can be any key of a JSON object, not a model's property.
        if keys != nil, type == JSONKey.self { keys = nil }
        return JSONKeyedDecodingContainer(node: self)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = value else { throw mismatch([Any].self, value, at: .root) }
        return JSONUnkeyedDecodingContainer(node: self, elements: elements)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    @inline(__always)
    func value(of property: String) -> JSONValue? {
        guard let members, let position = find(property, in: members) else { return nil }
        expectedPosition = position &+ 1
        return members.storedEntries[position].value
    }

    func position(of property: String) -> Int? { members.flatMap { find(property, in: $0) } }

    @inline(__always)
    private func find(_ property: String, in members: JSONObject) -> Int? {
        guard let keys else { return find(key: property, in: members) }
        return find(key: keys.key(of: property), in: members) ?? position(of: property, readBy: keys, in: members)
    }

    /// Finds a key. Records of a list are usually alike, so a key that is not at the expected position may be where it
    /// was in the previous record.
    @inline(__always)
    private func find(key: String, in members: JSONObject) -> Int? {
        let lookUp = lookUps
        lookUps = lookUp &+ 1
        if members.hasKey(key, at: expectedPosition) { return expectedPosition }
        return findElsewhere(key, lookUp, in: members)
    }

    private func findElsewhere(_ key: String, _ lookUp: Int, in members: JSONObject) -> Int? {
        // An object's other members are of other types, so their positions don't help.
        guard let parent, parent.members == nil else { return members.position(of: key) }
        let positions = parent.positionsInside
        if lookUp < positions.count, members.hasKey(key, at: positions[lookUp]) { return positions[lookUp] }
        guard let position = members.position(of: key) else { return nil }
        while parent.positionsInside.count <= lookUp { parent.positionsInside.append(position) }
        parent.positionsInside[lookUp] = position
        return position
    }

    /// Returns the position of a member whose key is spelled differently from the one encoding writes.
    private func position(of property: String, readBy keys: CodedKeys, in members: JSONObject) -> Int? {
        if positionsByProperty == nil {
            positionsByProperty = Dictionary(members.storedEntries.enumerated().map { (keys.property(of: $1.key), $0) })
            {
                first, _ in first
            }
        }
        return positionsByProperty?[property]
    }

    @inline(__always)
    func bool(from value: JSONValue, at step: @autoclosure () -> CodingPathStep) throws -> Bool {
        guard case .bool(let bool) = value else { throw mismatch(Bool.self, value, at: step()) }
        return bool
    }

    @inline(__always)
    func string(from value: JSONValue, at step: @autoclosure () -> CodingPathStep) throws -> String {
        guard case .string(let string) = value else { throw mismatch(String.self, value, at: step()) }
        return string
    }

    /// Returns the value as an integer, including one written as `1.0`.
    @inline(__always)
    func integer<T: FixedWidthInteger>(
        from value: JSONValue, as type: T.Type, at step: @autoclosure () -> CodingPathStep
    ) throws -> T {
        if case .integer(let integer) = value, let exact = T(exactly: integer) { return exact }
        if let integer = value.integer(as: type) { return integer }
        throw unfit(type, value, at: step())
    }

    @inline(__always)
    func double(from value: JSONValue, at step: @autoclosure () -> CodingPathStep) throws -> Double {
        switch value {
        case .number(let number): return number
        case .integer(let integer): return Double(integer)
        default: return try doubleOffTheFastPath(from: value, at: step())
        }
    }

    private func doubleOffTheFastPath(from value: JSONValue, at step: CodingPathStep) throws -> Double {
        // The nearest `Double` of 1e-400 is zero, which has none of its digits.
        if let number = value.number, number != 0 { return number }
        if let number = options.coding.nonConformingFloats.number(in: value) { return number }
        throw unfit(Double.self, value, at: step)
    }

    func float(from value: JSONValue, at step: @autoclosure () -> CodingPathStep) throws -> Float {
        if let float = value.floatValue { return float }
        if let number = options.coding.nonConformingFloats.number(in: value) { return Float(number) }
        throw unfit(Float.self, value, at: step())
    }

    /// Decodes any other type: one with its own JSON form, or a model that decodes itself.
    func decode<T: Decodable>(_ type: T.Type, from value: JSONValue, at step: @autoclosure () -> CodingPathStep) throws
        -> T
    {
        let special = SpecialType(type)
        guard special == .none else { return try decode(special, as: type, from: value, at: step()) }
        if type == [String].self, let strings = value.stringElements { return identity(strings, as: type) }
        let node = DecodingNode(value, parent: self, step: step())
        if node.keys != nil, type is any DictionaryOfStrings.Type { node.keys = nil }
        return try T(from: node)
    }

    /// Decodes this node's own value without creating another node.
    func decodeWhole<T: Decodable>(_ type: T.Type) throws -> T {
        let special = SpecialType(type)
        guard special == .none else { return try decode(special, as: type, from: value, at: .root) }
        guard let keys, type is any DictionaryOfStrings.Type else { return try T(from: self) }
        self.keys = nil
        defer { self.keys = keys }
        return try T(from: self)
    }
}

/// The node is its own single-value container, which saves an allocation per value.
extension DecodingNode: SingleValueDecodingContainer {
    func decodeNil() -> Bool { value.isNull }

    func decode<T: Decodable>(_ type: T.Type) throws -> T { try decodeWhole(type) }
    func decode(_ type: Bool.Type) throws -> Bool { try bool(from: value, at: .root) }
    func decode(_ type: String.Type) throws -> String { try string(from: value, at: .root) }
    func decode(_ type: Double.Type) throws -> Double { try double(from: value, at: .root) }
    func decode(_ type: Float.Type) throws -> Float { try float(from: value, at: .root) }
    func decode(_ type: Int.Type) throws -> Int { try integer(from: value, as: type, at: .root) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(from: value, as: type, at: .root) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(from: value, as: type, at: .root) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(from: value, as: type, at: .root) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(from: value, as: type, at: .root) }
    func decode(_ type: Int128.Type) throws -> Int128 { try integer(from: value, as: type, at: .root) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(from: value, as: type, at: .root) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(from: value, as: type, at: .root) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(from: value, as: type, at: .root) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(from: value, as: type, at: .root) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(from: value, as: type, at: .root) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(from: value, as: type, at: .root) }
}

extension DecodingNode {
    /// Returns the error for a value of the wrong kind. Null is reported as a missing value.
    func mismatch(_ type: any Any.Type, _ value: JSONValue, at step: CodingPathStep) -> DecodingError {
        let description = "Expected \(type) but found \(value.isNull ? "null" : value.kindName) instead."
        let context = DecodingError.Context(codingPath: path(to: step), debugDescription: description)
        return value.isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    /// Returns the error for a value that is not a number, or for a number that a type cannot hold.
    func unfit(_ type: any Any.Type, _ value: JSONValue, at step: CodingPathStep) -> DecodingError {
        switch value {
        case .integer, .number: corrupted("The number \(value) does not fit \(type).", at: step)
        case .decimal: corrupted("A number with so many digits does not fit \(type).", at: step)
        default: mismatch(type, value, at: step)
        }
    }

    /// Returns the error for a value of the right kind that is not valid.
    func corrupted(_ description: String, at step: CodingPathStep, underlying: (any Error)? = nil) -> DecodingError {
        .dataCorrupted(
            DecodingError.Context(
                codingPath: path(to: step), debugDescription: description, underlyingError: underlying))
    }
}

extension JSONValue {
    /// The number as the nearest `Float`; nil if the value is not a number, is too large, or is so small that no digit
    /// is left.
    fileprivate var floatValue: Float? {
        let float: Float
        switch self {
        case .integer(let integer): return Float(integer)
        case .number(let number):
            let rounded = Float(number)
            guard rounded.isFinite, number != 0 else { return number.isFinite && number != 0 ? nil : rounded }
            // The number may have been rounded to the middle of two floats, and rounding again may then choose the
            // wrong one. A power of two has a neighbor at half the distance.
            let (distance, half) = ((Double(rounded) - number).magnitude, Double(rounded.ulp) / 2)
            float = distance == half || distance == half / 2 ? Float(number.description) ?? rounded : rounded
        case .decimal(let decimal): float = Float(decimal.text) ?? .infinity
        default: return nil
        }
        return float.isFinite && float != 0 ? float : nil
    }

    /// The strings of an array that contains only strings. Such arrays are common and need no container.
    var stringElements: [String]? {
        guard case .array(let elements) = self else { return nil }
        var strings: [String] = []
        // Growing takes longer, and leaves room that is never used.
        strings.reserveCapacity(elements.count)
        for element in elements {
            guard case .string(let string) = element else { return nil }
            strings.append(string)
        }
        return strings
    }

    /// The kind of value, for messages that must not contain the value itself.
    var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .number, .decimal: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
