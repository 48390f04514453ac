struct JSONTreeBuilder: JSONBuilder, ~Copyable {
    /// The finished values of all open containers.
    private var values = ScratchStack<JSONValue>(minimumCapacity: 32)
    private var keys = ScratchStack<HashedKey>(minimumCapacity: 32)
    private var knownKeys = KeyCache(slotBits: 6)
    private var knownStrings = KeyCache(slotBits: 9)
    /// How many strings were known.
    private var repetitions = 0

    static func tree(
        of bytes: UnsafeBufferPointer<UInt8>, maximumDepth: Int, maximumValues: Int
    ) throws(JSONParsingError) -> JSONValue {
        guard let start = bytes.baseAddress else { throw JSONParsingError(reason: .unexpectedEnd, offset: 0) }
        try JSONValueCount.check(bytes, limit: maximumValues)
        // A small text, such as the response to a call, needs no other memory than the thread's stack: three of its ten allocations.
        let tree = withUnsafeTemporaryAllocation(of: JSONValue.self, capacity: 32) { values in
            withUnsafeTemporaryAllocation(of: HashedKey.self, capacity: 32) { keys in
                withUnsafeTemporaryAllocation(of: JSONParser<Self>.OpenContainer.self, capacity: 8) { containers in
                    Result { () throws(JSONParsingError) in
                        var builder = JSONTreeBuilder()
                        builder.values = ScratchStack(minimumCapacity: 32, startingIn: values)
                        builder.keys = ScratchStack(minimumCapacity: 32, startingIn: keys)
                        var parser = JSONParser(
                            start: start, count: bytes.count, maximumDepth: maximumDepth, builder: builder,
                            openContainers: ScratchStack(minimumCapacity: 8, startingIn: containers))
                        return try parser.parse()
                    }
                }
            }
        }
        return try tree.get()
    }

    /// Returns the string whose opening quote is the first byte; nil if the bytes do not hold one.
    static func string(in bytes: UnsafeBufferPointer<UInt8>) -> String? {
        guard let start = bytes.baseAddress else { return nil }
        var parser = JSONParser(start: start, count: bytes.count, maximumDepth: 0, builder: JSONTreeBuilder())
        return try? parser.parseString().string
    }

    struct Container {
        /// The index of its first value on the stack.
        let firstValue: Int
        let firstKey: Int
        /// One bit per hash seen, so that most keys are known to be new without a comparison.
        var seenKeys: UInt64 = 0
        var hasRepeatedKeys = false
    }

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

    // Not `@inline(__always)`, here or in `key`: the parser would call such a witness through the table (measured: 12% slower for a page).
    mutating func string(_ string: ParsedString) -> JSONValue? {
        // The records of a list often have the same authors or times, which then share their memory. A shorter string needs none, and a longer one
        // rarely repeats. Where few strings do, looking for them costs more than it saves.
        guard 16...64 ~= string.bytes.count, !string.hasEscapes, knownStrings.misses < 256 || repetitions > knownStrings.misses / 8,
            let bytes = string.bytes.baseAddress
        else { return string.makeString().map(JSONValue.string) }
        let hash = KeyCache.hash(bytes, count: string.bytes.count)
        if let known = knownStrings.find(bytes, count: string.bytes.count, hash: hash) {
            repetitions += 1
            return .string(known)
        }
        guard let made = string.makeString() else { return nil }
        knownStrings.remember(made, bytes: bytes, count: string.bytes.count, hash: hash)
        return .string(made)
    }

    @inline(__always)
    func open(_ kind: JSONContainerKind, at offset: Int) -> Container {
        Container(firstValue: values.count, firstKey: keys.count)
    }

    @inline(__always)
    mutating func add(_ value: consuming JSONValue) { values.push(value) }

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

    mutating func key(_ key: ParsedString, in container: inout Container) -> Bool {
        guard let key = hashed(key) else { return false }
        let bit: UInt64 = 1 << (key.hash >> 58)
        if container.seenKeys & bit != 0 { checkUniqueness(of: key, in: &container) }
        container.seenKeys |= bit
        keys.push(key)
        return true
    }

    /// Returns the key's string, usually from the cache.
    @inline(__always)
    private mutating func hashed(_ key: ParsedString) -> HashedKey? {
        guard let bytes = key.bytes.baseAddress else { return HashedKey(string: "", hash: 0) }
        let hash = KeyCache.hash(bytes, count: key.bytes.count)
        if let known = knownKeys.find(bytes, count: key.bytes.count, hash: hash) { return HashedKey(string: known, hash: hash) }
        guard let string = key.makeString() else { return nil }
        // Resolved escapes are in a buffer that the next string with escapes overwrites.
        if !key.hasEscapes { knownKeys.remember(string, bytes: bytes, count: key.bytes.count, hash: hash) }
        return HashedKey(string: string, hash: hash)
    }

    /// Checks whether a small object already has this key. Large objects are checked while they are indexed.
    private func checkUniqueness(of key: HashedKey, in container: inout Container) {
        guard keys.count - container.firstKey <= JSONObject.indexingThreshold else { return }
        for index in container.firstKey..<keys.count {
            let other = keys.peek(index)
            if other.hash == key.hash, other.string.isExactly(key.string) { container.hasRepeatedKeys = true }
        }
    }
}

/// Parses texts that arrived together. They share the parser's memory and the keys it has seen, which saves 6% of the
/// instructions of an item of a stream.
package struct JSONTreeReader: ~Copyable {
    private let memory: UnsafeBufferPointer<UInt8>
    private var parser = Self.makeParser()
    private var isFirst = true

    /// - Parameter memory: What holds the texts. It must outlive the reader.
    package init(within memory: UnsafeBufferPointer<UInt8>) { self.memory = memory }

    /// Parses a text like `JSONValue(parsing:)`. The first one, and one that is elsewhere, share nothing.
    package mutating func read(_ text: UnsafeBufferPointer<UInt8>) throws(JSONParsingError) -> JSONValue {
        defer { isFirst = false }
        guard !isFirst, let start = text.baseAddress, let base = memory.baseAddress, start >= base,
            start + text.count <= base + memory.count
        else { return try JSONValue(parsing: text) }
        try JSONValueCount.check(text, limit: JSONValue.maximumValues(inTextOf: text.count))
        parser.begin(start, count: text.count)
        do {
            return try parser.parse()
        } catch {
            // The rest of an invalid text is still on its stacks.
            parser = Self.makeParser()
            throw error
        }
    }

    private static func makeParser() -> JSONParser<JSONTreeBuilder> {
        JSONParser(start: ("" as StaticString).utf8Start, count: 0, maximumDepth: JSONValue.defaultMaximumDepth, builder: JSONTreeBuilder())
    }
}

/// The keys or short strings that a parser has seen, so that those of later records cost a comparison instead of a new string.
///
/// Two strings with the same slot overwrite each other: a miss costs time but never correctness.
struct KeyCache: ~Copyable {
    private struct Slot {
        /// The string in the text, which outlives the cache.
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        var string = ""
    }

    /// The number of bits of a hash that choose the slot.
    private let slotBits: UInt64
    private var slots: [Slot] = []
    private(set) var misses = 0

    init(slotBits: UInt64) { self.slotBits = slotBits }

    @inline(__always)
    func find(_ bytes: UnsafePointer<UInt8>, count: Int, hash: UInt64) -> String? {
        guard !slots.isEmpty else { return nil }
        return slots.withUnsafeBufferPointer { slots in
            let slot = slots[Int(truncatingIfNeeded: hash >> (64 &- slotBits))]
            guard slot.count == count, let known = slot.bytes, haveEqualBytes(known, bytes, count: count) else { return nil }
            return slot.string
        }
    }

    mutating func remember(_ string: String, bytes: UnsafePointer<UInt8>, count: Int, hash: UInt64) {
        misses += 1
        // For short texts, allocating the slots costs more than it saves.
        if misses == 1 << slotBits / 8 { slots = Array(repeating: Slot(), count: 1 << slotBits) }
        guard !slots.isEmpty else { return }
        slots[Int(truncatingIfNeeded: hash >> (64 &- slotBits))] = Slot(bytes: bytes, count: count, string: string)
    }

    /// Returns a hash that is fast for short keys. It need not resist attacks, because equality is always checked and the number of
    /// keys compared is bounded.
    @inline(__always)
    static func hash(_ bytes: UnsafePointer<UInt8>, count: Int) -> UInt64 {
        let raw = UnsafeRawPointer(bytes)
        var hash = UInt64(truncatingIfNeeded: count) &* 0x9E37_79B9_7F4A_7C15
        var offset = 0
        while offset &+ 8 <= count {
            hash = mix(hash, raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset &+= 8
        }
        var rest: UInt64 = 0
        if count &- offset >= 4 {
            rest = UInt64(raw.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            offset &+= 4
        }
        while offset < count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset &+= 1
        }
        return mix(hash, rest)
    }

    @inline(__always)
    private static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let product = (hash ^ word) &* 0xFF51_AFD7_ED55_8CCD
        return product ^ (product >> 29)
    }
}
