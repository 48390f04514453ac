/// The encoder that a model sees: the place where one value comes into being.
final class EncodingNode: Encoder {
    enum Kind {
        case empty, single, array, object
    }

    let options: EncodingOptions
    private let parent: EncodingNode?
    private let step: CodingPathStep
    /// Where a node without a parent stands.
    ///
    /// A node that its parent keeps (a nested container) must not keep its parent, or both would stay in memory for ever.
    private let basePath: [any CodingKey]

    private(set) var kind = Kind.empty
    var single = JSONValue.null
    var array: [JSONValue] = []
    var object = JSONObject()
    /// Nested containers, which are filled as long as the model likes, and their places in `array` or `object`.
    private var unfinished: [(position: Int, node: EncodingNode)] = []
    private var wasUsedAsTwoKinds = false
    /// What properties are called in this value's object; nil where they are called as they are.
    var keys: CodedKeys?

    init(options: EncodingOptions, path: [any CodingKey]) {
        self.options = options
        keys = options.keys
        parent = nil
        step = .root
        basePath = path
    }

    init(parent: EncodingNode, step: CodingPathStep) {
        options = parent.options
        keys = parent.options.keys
        self.parent = parent
        self.step = step
        basePath = []
    }

    /// Put together only when somebody asks, which is mostly an error.
    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var node = self
        while let parent = node.parent {
            if let key = node.step.codingKey { path.append(key) }
            node = parent
        }
        return node.basePath + path.reversed()
    }

    var userInfo: [CodingUserInfoKey: Any] { options.coding.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        // Most records have a handful of keys; growing step by step would cost more than they do.
        if kind == .empty { object = JSONObject(minimumCapacity: 8) }
        become(.object)
        // These are the keys of any JSON object, and not those of a model.
        if keys != nil, type == JSONKey.self { keys = nil }
        return KeyedEncodingContainer(JSONKeyedEncodingContainer<Key>(node: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        become(.array)
        return JSONUnkeyedEncodingContainer(node: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        self
    }

    /// Fixes the kind of value; a model that asks for two kinds is told so in the end, as containers cannot throw.
    func become(_ newKind: Kind) {
        if kind != .empty, kind != newKind { wasUsedAsTwoKinds = true }
        kind = newKind
    }

    /// The finished value, or nil where nothing was encoded.
    func finish() throws -> JSONValue? {
        guard !wasUsedAsTwoKinds else {
            throw EncodingError.invalidValue(
                self, EncodingError.Context(codingPath: codingPath, debugDescription: "A value was encoded as two kinds of container."))
        }
        for (position, node) in unfinished {
            let value = try node.finish() ?? .object([:])
            if kind == .array { array[position] = value } else { object.setValue(value, at: position) }
        }
        unfinished = []
        switch kind {
        case .empty: return nil
        case .single: return single
        case .array: return .array(array)
        case .object: return .object(object)
        }
    }
}

extension EncodingNode {
    @inline(__always)
    func set(_ value: JSONValue, forKey property: String) {
        let key = keys?.key(of: property) ?? property
        object.updateValue(value, forKey: key)
        if !unfinished.isEmpty, let position = object.position(of: key) { unfinished.removeAll { $0.position == position } }
    }

    /// The node for a value that is filled in later; asked for again with the same key, it is the same node.
    func unfinishedNode(forKey key: some CodingKey) -> EncodingNode {
        let name = keys?.key(of: key.stringValue) ?? key.stringValue
        if let position = object.position(of: name), let known = unfinished.first(where: { $0.position == position }) { return known.node }
        object[name] = .null
        return appendUnfinished(at: object.position(of: name) ?? object.count - 1, key: key)
    }

    func unfinishedElement() -> EncodingNode {
        array.append(.null)
        return appendUnfinished(at: array.count - 1, key: JSONKey(intValue: array.count - 1))
    }

    private func appendUnfinished(at position: Int, key: any CodingKey) -> EncodingNode {
        let node = EncodingNode(options: options, path: codingPath + [key])
        unfinished.append((position, node))
        return node
    }
}
