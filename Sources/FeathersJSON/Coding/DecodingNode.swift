/// The decoder that a model sees: a value, and the way to it.
final class DecodingNode: Decoder {
    let source: DecodingSource
    let options: DecodingOptions
    let parent: DecodingNode?
    private let step: CodingPathStep
    /// What properties are called in this value's object; nil where they are called as they are.
    var keys: CodedKeys?

    /// The members of this value, once it was found to be an object.
    var members: DecodingMembers?
    /// How many of them have been asked for.
    var lookUps = 0
    /// Where the next one is looked for first: models mostly ask for them in the order in which they were written.
    var expectedPosition = 0
    /// Where else: the positions at which the objects in this value had what they were asked for first, second and so on.
    var positionsInside: [Int] = []
    /// Where the members stand by the properties they read as; made when a property is not found under the key it is written with.
    var positionsByProperty: [String: Int]?

    init(source: DecodingSource, options: DecodingOptions) {
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

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if members == nil {
            guard let members = source.members else { throw mismatch([String: Any].self, source, at: .root) }
            self.members = members
            expectedPosition = members.firstPosition
        }
        // These are the keys of any JSON object, and not those of a model.
        if keys != nil, type == JSONKey.self { keys = nil }
        return KeyedDecodingContainer(JSONKeyedDecodingContainer(node: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let elements = source.elements else { throw mismatch([Any].self, source, at: .root) }
        return JSONUnkeyedDecodingContainer(node: self, elements: elements)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        self
    }
}
