/// Builds the tree of a JSON text's values.
struct JSONTreeBuilder: JSONBuilder, ~Copyable {
    /// The finished values of all open containers.
    private var values = ScratchStack<JSONValue>(minimumCapacity: 32)
    /// The keys of all open objects.
    private var keys = ScratchStack<HashedKey>(minimumCapacity: 32)
    private var knownKeys = KeyCache()

    static func tree(of bytes: UnsafeBufferPointer<UInt8>, maximumDepth: Int) throws(JSONParsingError) -> JSONValue {
        guard let start = bytes.baseAddress else { throw JSONParsingError(reason: .unexpectedEnd, offset: 0) }
        var parser = JSONParser(start: start, count: bytes.count, maximumDepth: maximumDepth, builder: JSONTreeBuilder())
        return try parser.parse()
    }

    /// The string whose opening quote is the first byte; nil where there is none.
    static func string(in bytes: UnsafeBufferPointer<UInt8>) -> String? {
        guard let start = bytes.baseAddress else { return nil }
        var parser = JSONParser(start: start, count: bytes.count, maximumDepth: 0, builder: JSONTreeBuilder())
        return try? parser.parseString().string
    }

    struct Container {
        /// Where its values begin on the stack.
        let firstValue: Int
        let firstKey: Int
        /// One bit for each hash seen, so that most keys are known to be new without a look at the others.
        var seenKeys: UInt64 = 0
        var hasRepeatedKeys = false
    }

    /// An object's key and a hash of its bytes.
    struct HashedKey {
        let string: String
        let hash: UInt64
    }

    static var resolvesEscapes: Bool { true }

    var outside: Container { Container(firstValue: 0, firstKey: 0) }

    @inline(__always)
    func null(at offset: Int) -> JSONValue { .null }

    @inline(__always)
    func bool(_ bool: Bool, at offset: Int) -> JSONValue { .bool(bool) }

    @inline(__always)
    func integer(_ integer: Int64, at offset: Int) -> JSONValue { .integer(integer) }

    @inline(__always)
    func number(_ number: Double, at offset: Int) -> JSONValue { .number(number) }

    @inline(__always)
    func string(_ string: ParsedString) -> JSONValue? { string.makeString().map(JSONValue.string) }

    @inline(__always)
    func open(_ kind: JSONContainerKind, at offset: Int) -> Container {
        Container(firstValue: values.count, firstKey: keys.count)
    }

    @inline(__always)
    mutating func add(_ value: consuming JSONValue) {
        values.push(value)
    }

    @inline(__always)
    mutating func close(_ kind: JSONContainerKind, _ container: consuming Container, endingAt end: Int) -> JSONValue {
        kind == .object ? .object(takeObject(of: container)) : .array(takeArray(of: container))
    }

    private mutating func takeArray(of container: Container) -> [JSONValue] {
        let count = values.count - container.firstValue
        guard count > 0 else { return [] }
        let source = values.giveUp(from: container.firstValue)
        var array: [JSONValue] = []
        array.reserveCapacity(count)
        for index in 0..<count { array.append((source + index).move()) }
        return array
    }

    private mutating func takeObject(of container: Container) -> JSONObject {
        let count = values.count - container.firstValue
        guard count > 0 else { return JSONObject() }
        let sourceValues = values.giveUp(from: container.firstValue)
        let sourceKeys = keys.giveUp(from: container.firstKey)
        var entries: [JSONObject.Entry] = []
        entries.reserveCapacity(count)
        for index in 0..<count {
            entries.append(JSONObject.Entry(key: (sourceKeys + index).move().string, value: (sourceValues + index).move()))
        }
        let isUnique = count <= JSONObject.indexingThreshold && !container.hasRepeatedKeys
        return isUnique ? JSONObject(uniqueEntries: entries) : JSONObject(mergingEntries: entries)
    }

    @inline(__always)
    mutating func key(_ key: ParsedString, in container: inout Container) -> Bool {
        guard let key = hashed(key) else { return false }
        note(key, in: &container)
        keys.push(key)
        return true
    }

    /// The key's string, mostly one that was made before.
    @inline(__always)
    private mutating func hashed(_ key: ParsedString) -> HashedKey? {
        guard let bytes = key.bytes.baseAddress else { return HashedKey(string: "", hash: 0) }
        let hash = KeyCache.hash(bytes, count: key.bytes.count)
        if let known = knownKeys.find(bytes, count: key.bytes.count, hash: hash) { return HashedKey(string: known, hash: hash) }
        guard let string = key.makeString() else { return nil }
        // What is not in the text does not outlive the next escape.
        if !key.hasEscapes { knownKeys.remember(string, bytes: bytes, count: key.bytes.count, hash: hash) }
        return HashedKey(string: string, hash: hash)
    }

    /// Finds out whether a small object has this key already; large ones are checked while they are indexed.
    @inline(__always)
    private func note(_ key: HashedKey, in container: inout Container) {
        let bit: UInt64 = 1 << (key.hash >> 58)
        guard container.seenKeys & bit != 0 else {
            container.seenKeys |= bit
            return
        }
        guard keys.count - container.firstKey <= JSONObject.indexingThreshold else { return }
        for index in container.firstKey..<keys.count {
            let other = keys.peek(index)
            if other.hash == key.hash, other.string.isExactly(key.string) { container.hasRepeatedKeys = true }
        }
    }
}

extension ParsedString {
    /// nil where the bytes are no UTF-8.
    @inline(__always)
    func makeString() -> String? {
        isASCII ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
    }
}
