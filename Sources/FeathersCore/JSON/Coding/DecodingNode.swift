/// The decoder that a model sees: a value, and the way to it.
final class DecodingNode: Decoder {
    let value: JSONValue
    let options: DecodingOptions
    private let parent: DecodingNode?
    private let step: CodingPathStep
    /// Where the next key is looked for first.
    private var expectedPosition = 0
    /// What properties are called in this value's object; nil where they are called as they are.
    var keys: CodedKeys?
    /// Where the keys stand by the properties they read as; made when a property is not found under the key it is written with.
    private var positionsByProperty: [String: Int]?

    init(value: JSONValue, options: DecodingOptions) {
        self.value = value
        self.options = options
        keys = options.keys
        parent = nil
        step = .root
    }

    init(value: JSONValue, parent: DecodingNode, step: CodingPathStep) {
        self.value = value
        self.options = parent.options
        keys = parent.options.keys
        self.parent = parent
        self.step = step
    }

    /// Put together only when somebody asks, which is mostly an error.
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

    /// The coding path of something inside this value.
    func path(to step: CodingPathStep) -> [any CodingKey] {
        guard let key = step.codingKey else { return codingPath }
        return codingPath + [key]
    }

    /// The value of an object's key.
    ///
    /// Models mostly ask for keys in the order in which they were written, so the one after the last is tried before a search.
    @inline(__always)
    func value(of key: String, in object: JSONObject) -> JSONValue? {
        let expected = expectedPosition
        if keys == nil, expected < object.entries.count, object.entries[expected].key.isExactly(key) {
            expectedPosition = expected + 1
            return object.entries[expected].value
        }
        guard let position = position(of: key, in: object) else { return nil }
        expectedPosition = position + 1
        return object.entries[position].value
    }

    /// Where the value of a property stands in an object.
    func position(of property: String, in object: JSONObject) -> Int? {
        guard let keys else { return object.position(of: property) }
        if let position = object.position(of: keys.key(of: property)) { return position }
        if positionsByProperty == nil {
            let properties = object.entries.enumerated().map { (keys.property(of: $1.key), $0) }
            positionsByProperty = Dictionary(properties) { first, _ in first }
        }
        return positionsByProperty?[property]
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let object) = value else { throw mismatch([String: Any].self, value, at: .root) }
        // These are the keys of any JSON object, and not those of a model.
        if keys != nil, type == JSONKey.self { keys = nil }
        return KeyedDecodingContainer(JSONKeyedDecodingContainer(node: self, object: object))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let array) = value else { throw mismatch([Any].self, value, at: .root) }
        return JSONUnkeyedDecodingContainer(node: self, array: array)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        self
    }
}
