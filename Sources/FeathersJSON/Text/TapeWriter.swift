/// Marks where the values of a JSON text stand, instead of building them.
///
/// Objects with keys that are repeated, or written with escapes, or very many, are left to the tree, which is made for them.
struct TapeWriter: JSONBuilder, ~Copyable {
    private var marks: ScratchStack<TapeEntry>
    /// Whether the marks can be read without a tree.
    private var isPlain = true
    private var depth = 0

    struct Container {
        /// Where the mark of the array or object is.
        let place: Int
        /// One bit for each hash seen, so that most keys are known to be new without a look at the others.
        var seenKeys: UInt64 = 0
        var keyCount = 0
    }

    private init(capacity: Int) {
        marks = ScratchStack(minimumCapacity: capacity)
    }

    /// The marks of a text's values, to be deallocated by the caller; nil where its tree serves better.
    static func marks(
        of bytes: UnsafeBufferPointer<UInt8>, maximumDepth: Int
    ) throws(JSONParsingError) -> UnsafeMutableBufferPointer<TapeEntry>? {
        guard let start = bytes.baseAddress else { throw JSONParsingError(reason: .unexpectedEnd, offset: 0) }
        // What a mark has room for; larger texts are for downloads.
        guard bytes.count <= UInt32.max else { return nil }
        // Feathers' records have a key or a value in a dozen bytes.
        let builder = TapeWriter(capacity: bytes.count / 12 + 8)
        var parser = JSONParser(start: start, count: bytes.count, maximumDepth: maximumDepth, builder: builder)
        do throws(JSONParsingError) {
            try parser.parse()
            return parser.builder.takeMarks()
        } catch {
            // Given up, rather than refused: whoever builds the tree finds out what else there is.
            if !parser.builder.isPlain { return nil }
            throw error
        }
    }

    private mutating func takeMarks() -> UnsafeMutableBufferPointer<TapeEntry> {
        let taken = UnsafeMutableBufferPointer<TapeEntry>.allocate(capacity: marks.count)
        let count = marks.count
        taken.baseAddress?.moveInitialize(from: marks.giveUp(from: 0), count: count)
        return taken
    }

    static var resolvesEscapes: Bool { false }

    var outside: Container { Container(place: 0) }

    @inline(__always)
    mutating func null(at offset: Int) { marks.push(TapeEntry(.null, at: offset)) }

    @inline(__always)
    mutating func bool(_ bool: Bool, at offset: Int) { marks.push(TapeEntry(.bool, at: offset, word: bool ? 1 : 0)) }

    @inline(__always)
    mutating func integer(_ integer: Int64, at offset: Int) {
        marks.push(TapeEntry(.integer, at: offset, word: UInt64(bitPattern: integer)))
    }

    @inline(__always)
    mutating func number(_ number: Double, at offset: Int) { marks.push(TapeEntry(.number, at: offset, word: number.bitPattern)) }

    @inline(__always)
    mutating func string(_ string: ParsedString) -> Void? {
        guard string.isASCII || string.isWellFormed else { return nil }
        marks.push(
            TapeEntry(string.hasEscapes ? .escapedString : .string, at: string.offset, word: UInt64(truncatingIfNeeded: string.length)))
        return ()
    }

    @inline(__always)
    mutating func open(_ kind: JSONContainerKind, at offset: Int) -> Container {
        depth &+= 1
        marks.push(TapeEntry(kind == .object ? .object : .array, at: offset, depth: depth))
        return Container(place: marks.count - 1)
    }

    @inline(__always)
    func add(_ value: Void) {}

    @inline(__always)
    mutating func close(_ kind: JSONContainerKind, _ container: consuming Container, endingAt end: Int) {
        depth &-= 1
        var mark = marks.peek(container.place)
        mark.close(stride: marks.count - container.place, endingAt: end)
        marks.replace(container.place, with: mark)
    }

    @inline(__always)
    mutating func key(_ key: ParsedString, in container: inout Container) -> Bool {
        guard key.isASCII || key.isWellFormed else { return false }
        container.keyCount &+= 1
        if key.hasEscapes || container.keyCount > JSONObject.indexingThreshold { isPlain = false }
        if isPlain { note(key, in: &container) }
        guard isPlain else { return false }
        marks.push(TapeEntry(.key, at: key.offset, depth: depth, word: UInt64(truncatingIfNeeded: key.length)))
        return true
    }

    /// Finds out whether the object has this key already.
    @inline(__always)
    private mutating func note(_ key: ParsedString, in container: inout Container) {
        guard let bytes = key.bytes.baseAddress else { return }
        let bit: UInt64 = 1 << (KeyCache.hash(bytes, count: key.bytes.count) >> 58)
        guard container.seenKeys & bit != 0 else {
            container.seenKeys |= bit
            return
        }
        let text = bytes - key.offset
        var place = container.place + 1
        while place < marks.count {
            let other = marks.peek(place)
            if other.length == key.length, haveEqualBytes(text + other.offset, bytes, count: key.length) { isPlain = false }
            place += 1 + marks.peek(place + 1).stride
        }
    }
}

extension ParsedString {
    /// Whether the bytes are UTF-8.
    var isWellFormed: Bool { firstIllFormedIndex(in: bytes) == bytes.count }
}
