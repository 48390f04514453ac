/// Writes the tape of a JSON text instead of building its values.
///
/// A text is left to the tree if an object in it has repeated keys, escaped keys, or more than 32 keys.
struct TapeWriter: JSONBuilder, ~Copyable {
    private var entries: ScratchStack<TapeEntry>
    /// Whether the tape is usable without a tree.
    private var isPlain = true
    private var depth = 0

    struct Container {
        /// The index of the array's or object's own entry.
        let entry: Int
        /// One bit per hash seen, so that most keys are known to be new without a comparison.
        var seenKeys: UInt64 = 0
        var keyCount = 0
    }

    private init(capacity: Int) { entries = ScratchStack(minimumCapacity: capacity) }

    /// Returns the entries of a text, which the caller deallocates; nil if a tree serves better.
    static func entries(
        of bytes: UnsafeBufferPointer<UInt8>, maximumDepth: Int, maximumValues: Int
    ) throws(JSONParsingError) -> UnsafeMutableBufferPointer<TapeEntry>? {
        guard let start = bytes.baseAddress else { throw JSONParsingError(reason: .unexpectedEnd, offset: 0) }
        // An entry has 32 bits for a length.
        guard bytes.count <= UInt32.max else { return nil }
        try JSONValueCount.check(bytes, limit: maximumValues)
        // Feathers records have about one key or value per twelve bytes.
        let builder = TapeWriter(capacity: bytes.count / 12 + 8)
        var parser = JSONParser(start: start, count: bytes.count, maximumDepth: maximumDepth, builder: builder)
        do throws(JSONParsingError) {
            try parser.parse()
            return parser.builder.takeEntries()
        } catch {
            // The writer gave up, but the text may be valid. Building the tree decides that.
            if !parser.builder.isPlain { return nil }
            throw error
        }
    }

    private mutating func takeEntries() -> UnsafeMutableBufferPointer<TapeEntry> {
        let taken = UnsafeMutableBufferPointer<TapeEntry>.allocate(capacity: entries.count)
        let count = entries.count
        taken.baseAddress?.moveInitialize(from: entries.giveUp(from: 0), count: count)
        return taken
    }

    static var resolvesEscapes: Bool { false }

    var outside: Container { Container(entry: 0) }

    @inline(__always)
    mutating func null(at offset: Int) { entries.push(TapeEntry(.null, at: offset)) }

    @inline(__always)
    mutating func bool(_ bool: Bool, at offset: Int) { entries.push(TapeEntry(.bool, at: offset, word: bool ? 1 : 0)) }

    @inline(__always)
    mutating func integer(_ integer: Int64, at offset: Int) {
        entries.push(TapeEntry(.integer, at: offset, word: UInt64(bitPattern: integer)))
    }

    @inline(__always)
    mutating func number(_ number: Double, at offset: Int) { entries.push(TapeEntry(.number, at: offset, word: number.bitPattern)) }

    @inline(__always)
    mutating func string(_ string: ParsedString) -> Void? {
        guard string.isASCII || string.isWellFormed else { return nil }
        entries.push(
            TapeEntry(string.hasEscapes ? .escapedString : .string, at: string.offset, word: UInt64(truncatingIfNeeded: string.length)))
        return ()
    }

    @inline(__always)
    mutating func open(_ kind: JSONContainerKind, at offset: Int) -> Container {
        depth &+= 1
        entries.push(TapeEntry(kind == .object ? .object : .array, at: offset, depth: depth))
        return Container(entry: entries.count - 1)
    }

    @inline(__always)
    func add(_ value: Void) {}

    @inline(__always)
    mutating func close(_ kind: JSONContainerKind, _ container: consuming Container, endingAt end: Int) {
        depth &-= 1
        var entry = entries.peek(container.entry)
        entry.close(stride: entries.count - container.entry, endingAt: end)
        entries.replace(container.entry, with: entry)
    }

    @inline(__always)
    mutating func key(_ key: ParsedString, in container: inout Container) -> Bool {
        guard key.isASCII || key.isWellFormed else { return false }
        container.keyCount &+= 1
        if key.hasEscapes || container.keyCount > JSONObject.indexingThreshold { isPlain = false }
        if isPlain { checkUniqueness(of: key, in: &container) }
        guard isPlain else { return false }
        entries.push(TapeEntry(.key, at: key.offset, depth: depth, word: UInt64(truncatingIfNeeded: key.length)))
        return true
    }

    /// Gives up the tape if the object already has this key.
    @inline(__always)
    private mutating func checkUniqueness(of key: ParsedString, in container: inout Container) {
        guard let bytes = key.bytes.baseAddress else { return }
        let bit: UInt64 = 1 << (KeyCache.hash(bytes, count: key.bytes.count) >> 58)
        guard container.seenKeys & bit != 0 else {
            container.seenKeys |= bit
            return
        }
        let text = bytes - key.offset
        var index = container.entry + 1
        while index < entries.count {
            let other = entries.peek(index)
            if other.length == key.length, haveEqualBytes(text + other.offset, bytes, count: key.length) { isPlain = false }
            index += 1 + entries.peek(index + 1).stride
        }
    }
}
