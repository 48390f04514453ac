/// Encodes models as ``CodingOptions`` specify, without going through bytes.
package struct JSONValueEncoder: Sendable {
    private let options: CodingOptions

    package init(_ options: CodingOptions = CodingOptions()) { self.options = options }

    package func encode<T: Encodable>(_ value: T) throws -> JSONValue {
        if T.self == JSONValue.self, let value = value as? JSONValue { return value }
        let root = EncodingNode(options: SharedOptions(options), path: [])
        guard let encoded = try root.encodeWhole(value) else {
            throw EncodingError.invalidValue(
                value, EncodingError.Context(codingPath: [], debugDescription: "\(T.self) did not encode any values."))
        }
        return encoded
    }
}

/// The encoder that a model sees. It builds one value.
final class EncodingNode: Encoder {
    enum Kind {
        case empty, single, array, object
    }

    let options: SharedOptions
    private let parent: EncodingNode?
    private let step: CodingPathStep
    /// The path of a node without a parent.
    ///
    /// Nodes of nested containers must not hold their parent: the parent holds them, so both would leak.
    private let basePath: [any CodingKey]

    private(set) var kind = Kind.empty
    var single = JSONValue.null
    var array: [JSONValue] = []
    var object = JSONObject()
    /// The nested containers, which the model may fill until the end, and their positions in `array` or `object`.
    private var unfinished: [(position: Int, node: EncodingNode)] = []
    private var wasUsedAsTwoKinds = false
    /// Converts property names to this object's keys; nil if names do not change.
    var keys: CodedKeys?

    init(options: SharedOptions, path: [any CodingKey]) {
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

    /// Built on access, because only errors usually need it.
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
        // Most records have a handful of keys. Reserving room for them is cheaper than growing step by step.
        if kind == .empty { object = JSONObject(minimumCapacity: 8) }
        become(.object)
        // A JSONKey can be any key of a JSON object, not a model's property.
        if keys != nil, type == JSONKey.self { keys = nil }
        return KeyedEncodingContainer(JSONKeyedEncodingContainer<Key>(node: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        become(.array)
        return JSONUnkeyedEncodingContainer(node: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    /// Sets the kind of value. A second kind makes `finish` fail, because requesting a container cannot throw.
    func become(_ newKind: Kind) {
        if kind != .empty, kind != newKind { wasUsedAsTwoKinds = true }
        kind = newKind
    }

    /// Returns the finished value; nil if nothing was encoded.
    func finish() throws -> JSONValue? {
        guard !wasUsedAsTwoKinds else {
            throw EncodingError.invalidValue(
                self,
                EncodingError.Context(
                    codingPath: codingPath, debugDescription: "The value requested two kinds of container."))
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

    @inline(__always)
    func set(_ value: JSONValue, forKey property: String) {
        let key = keys?.key(of: property) ?? property
        object.assign(value, forKey: key)
        if !unfinished.isEmpty, let position = object.position(of: key) {
            unfinished.removeAll { $0.position == position }
        }
    }

    /// Returns the node for a value that is filled in later; the same node for the same key.
    func unfinishedNode(forKey key: some CodingKey) -> EncodingNode {
        let name = keys?.key(of: key.stringValue) ?? key.stringValue
        if let position = object.position(of: name), let known = unfinished.first(where: { $0.position == position }) {
            return known.node
        }
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

    @inline(__always)
    func double(_ double: Double, at step: @autoclosure () -> CodingPathStep) throws -> JSONValue {
        guard double.isFinite else { return try nonFinite(double, at: step()) }
        return .number(double)
    }

    func float(_ float: Float, at step: @autoclosure () -> CodingPathStep) throws -> JSONValue {
        guard float.isFinite else { return try nonFinite(Double(float), at: step()) }
        return JSONValue(float: float)
    }

    private func nonFinite(_ number: Double, at step: CodingPathStep) throws -> JSONValue {
        guard let json = options.coding.nonConformingFloats.json(of: number) else {
            throw invalid(number, "JSON cannot represent \(number).", at: step)
        }
        return json
    }

    /// Encodes any other type: one with its own JSON form, or a model that encodes itself.
    func encode<T: Encodable>(_ value: T, at step: @autoclosure () -> CodingPathStep) throws -> JSONValue {
        if let special = try encodeSpecial(value, at: step()) { return special }
        let node = EncodingNode(parent: self, step: step())
        if node.keys != nil, T.self is any DictionaryOfStrings.Type { node.keys = nil }
        try value.encode(to: node)
        // A model without properties encodes as an empty object.
        return try node.finish() ?? .object([:])
    }

    func encodeWhole<T: Encodable>(_ value: T) throws -> JSONValue? {
        if let special = try encodeSpecial(value, at: .root) { return special }
        if keys != nil, T.self is any DictionaryOfStrings.Type { keys = nil }
        try value.encode(to: self)
        return try finish()
    }

    func invalid(_ value: Any, _ description: String, at step: CodingPathStep, underlying: (any Error)? = nil)
        -> EncodingError
    {
        let path = step.codingKey.map { codingPath + [$0] } ?? codingPath
        return .invalidValue(
            value, EncodingError.Context(codingPath: path, debugDescription: description, underlyingError: underlying))
    }
}

/// The node is its own single-value container, which saves an allocation per value.
extension EncodingNode: SingleValueEncodingContainer {
    private func set(_ value: JSONValue) {
        become(.single)
        single = value
    }

    func encodeNil() { set(.null) }

    func encode<T: Encodable>(_ value: T) throws { set(try encode(value, at: .root)) }
    func encode(_ value: Bool) throws { set(.bool(value)) }
    func encode(_ value: String) throws { set(.string(value)) }
    func encode(_ value: Double) throws { set(try double(value, at: .root)) }
    func encode(_ value: Float) throws { set(try float(value, at: .root)) }
    func encode(_ value: Int) { set(JSONValue(integer: value)) }
    func encode(_ value: Int8) { set(JSONValue(integer: value)) }
    func encode(_ value: Int16) { set(JSONValue(integer: value)) }
    func encode(_ value: Int32) { set(JSONValue(integer: value)) }
    func encode(_ value: Int64) { set(JSONValue(integer: value)) }
    func encode(_ value: Int128) { set(JSONValue(integer: value)) }
    func encode(_ value: UInt128) { set(JSONValue(integer: value)) }
    func encode(_ value: UInt) { set(JSONValue(integer: value)) }
    func encode(_ value: UInt8) { set(JSONValue(integer: value)) }
    func encode(_ value: UInt16) { set(JSONValue(integer: value)) }
    func encode(_ value: UInt32) { set(JSONValue(integer: value)) }
    func encode(_ value: UInt64) { set(JSONValue(integer: value)) }
}
