import Synchronization

// Unchecked because of the pointers: their memory is written before the initializer returns and never again, so any task may read it. It is
// freed with the last reference.

/// A valid JSON text with a tape of entries that locate its values.
///
/// A tape is cheaper to create than a tree of values, and serves as well when each value is read once.
package final class JSONTape: @unchecked Sendable {
    private let bytes: UnsafeMutableBufferPointer<UInt8>
    private let entries: UnsafeMutableBufferPointer<TapeEntry>
    /// Not an `AtomicLazyReference`, because it looks up its metadata on each access: 40 ns, when an event takes 1,400.
    private let tree = Mutex<JSONValue?>(nil)

    /// Writes the tape of a text.
    /// - Returns: nil if a tree serves better, that is, for objects with repeated keys, escaped keys, or more than 32 keys.
    /// - Throws: `JSONParsingError`, as ``JSONValue/init(parsing:maximumDepth:maximumValues:)-(Collection<UInt8>,_,_)`` does.
    package static func marking(_ bytes: [UInt8]) throws(JSONParsingError) -> JSONTape? {
        try bytes.withUnsafeBufferPointer { bytes throws(JSONParsingError) in try marking(bytes) }
    }

    package static func marking(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONParsingError) -> JSONTape? {
        let maximumValues = JSONValue.maximumValues(inTextOf: bytes.count)
        let entries = try TapeWriter.entries(of: bytes, maximumDepth: JSONValue.defaultMaximumDepth, maximumValues: maximumValues)
        return entries.map { JSONTape(copying: bytes, $0) }
    }

    private init(copying source: UnsafeBufferPointer<UInt8>, _ entries: UnsafeMutableBufferPointer<TapeEntry>) {
        self.entries = entries
        bytes = .allocate(capacity: source.count)
        _ = bytes.initialize(from: source)
    }

    deinit {
        bytes.deallocate()
        entries.deallocate()
    }

    /// The outermost value. Don't use it after the tape is freed.
    package var root: TapeCursor {
        // A valid text has a value, so it has bytes.
        TapeCursor(entry: UnsafePointer(entries.baseAddress.unsafelyUnwrapped), bytes: UnsafePointer(bytes.baseAddress.unsafelyUnwrapped))
    }

    package var hasTree: Bool { tree.withLock { $0 != nil } }

    /// The tree of the text, built on first access. If two tasks build it at once, the last result stays.
    package var json: JSONValue {
        if let json = tree.withLock({ $0 }) { return json }
        // Parsed from the text, which is faster than walking the tape. The text is known to be valid.
        let json = (try? JSONValue(parsing: bytes)) ?? .null
        tree.withLock { $0 = json }
        return json
    }
}

/// An element of an array that is still text. Two words, because it is a part of every event.
package struct JSONElement: Sendable {
    let tape: JSONTape
    /// The distance of its entry from the array's.
    private let offset: Int32
    private let index: Int32

    /// Returns the elements of an array; nil if the text is anything else.
    package static func elements(of tape: JSONTape) -> [JSONElement]? {
        withExtendedLifetime(tape) {
            let root = tape.root
            guard root.kind == .array else { return nil }
            return root.children.enumerated().map { JSONElement(tape: tape, offset: Int32($1.entry - root.entry), index: Int32($0)) }
        }
    }

    /// The value as a part of the array's tree, which is built on first access.
    package var json: JSONValue { tape.json[Int(index)] ?? .null }

    /// Returns the tree of this element alone, built each time.
    package func parsed() -> JSONValue { withExtendedLifetime(tape) { cursor.json } }

    /// Where the value begins in the text.
    package var start: Int { withExtendedLifetime(tape) { cursor.start } }

    private var cursor: TapeCursor { tape.root.advanced(by: Int(offset)) }

    /// The value for a decoder that was created for its tape.
    package var source: DecodingSource { .text(cursor) }

    /// The value of a property, without the tree of the others.
    package subscript(property: String) -> JSONValue? { withExtendedLifetime(tape) { source.members?[property]?.json } }
}

/// The location of a value or key in a JSON text, with as much of it as fits into two words.
struct TapeEntry: Sendable {
    /// Not an enumeration: a raw value made from stored bits would be checked on every access.
    struct Kind: Equatable, Sendable {
        let rawValue: UInt64

        static let null = Kind(rawValue: 0)
        static let bool = Kind(rawValue: 1)
        static let integer = Kind(rawValue: 2)
        static let number = Kind(rawValue: 3)
        /// A string without escapes.
        static let string = Kind(rawValue: 4)
        /// A string with escapes to resolve.
        static let escapedString = Kind(rawValue: 5)
        static let key = Kind(rawValue: 6)
        static let array = Kind(rawValue: 7)
        static let object = Kind(rawValue: 8)
    }

    private let head: UInt64
    private var word: UInt64

    /// - Parameters:
    ///   - offset: Where the value begins in the text; for a string, the byte after the quote.
    ///   - depth: The number of arrays and objects around the value, including itself; set only for keys and containers.
    ///   - word: A scalar's value or a string's length; `close` sets it for arrays and objects.
    @inline(__always)
    init(_ kind: Kind, at offset: Int, depth: Int = 0, word: UInt64 = 0) {
        head = UInt64(truncatingIfNeeded: offset) << 16 | UInt64(truncatingIfNeeded: depth) << 4 | kind.rawValue
        self.word = word
    }

    @inline(__always)
    var kind: Kind { Kind(rawValue: head & 0xF) }
    @inline(__always)
    var depth: Int { Int(truncatingIfNeeded: head >> 4 & 0xFFF) }
    @inline(__always)
    var offset: Int { Int(truncatingIfNeeded: head >> 16) }

    @inline(__always)
    var bool: Bool { word != 0 }
    @inline(__always)
    var integer: Int64 { Int64(bitPattern: word) }
    @inline(__always)
    var number: Double { Double(bitPattern: word) }
    @inline(__always)
    var isContainer: Bool { kind.rawValue >= Kind.array.rawValue }
    /// The number of bytes that a string, array, or object has in the text.
    @inline(__always)
    var length: Int { Int(truncatingIfNeeded: word & 0xFFFF_FFFF) }
    /// The distance to the entry after this value and its contents.
    @inline(__always)
    var stride: Int { isContainer ? Int(truncatingIfNeeded: word >> 32) : 1 }

    /// Ends an array or object.
    /// - Parameters:
    ///   - stride: The number of entries it has, including its own.
    ///   - end: The offset after its closing bracket.
    @inline(__always)
    mutating func close(stride: Int, endingAt end: Int) {
        word = UInt64(truncatingIfNeeded: stride) << 32 | UInt64(truncatingIfNeeded: end - offset)
    }
}

/// A value on a tape.
///
/// It holds only two pointers, because decoding copies a cursor at every step. Keep the ``JSONTape`` alive while you hold a cursor.
///
/// Unchecked because of the pointers: nothing writes to a tape's memory.
package struct TapeCursor: @unchecked Sendable {
    let entry: UnsafePointer<TapeEntry>
    let bytes: UnsafePointer<UInt8>

    @inline(__always)
    var kind: TapeEntry.Kind { entry.pointee.kind }

    @inline(__always)
    func advanced(by entries: Int) -> TapeCursor { TapeCursor(entry: entry + entries, bytes: bytes) }

    /// The text of a string or a key; nil for any other value.
    @inline(__always)
    var string: String? {
        let kind = kind
        if kind == .string || kind == .key { return plainString }
        return kind == .escapedString ? unescapedString : nil
    }

    @inline(__always)
    private var plainString: String {
        let entry = entry.pointee
        return String(decoding: UnsafeBufferPointer(start: bytes + entry.offset, count: entry.length), as: UTF8.self)
    }

    /// The string with its escapes resolved. The tape's writer has already checked them.
    private var unescapedString: String? {
        let entry = entry.pointee
        let quoted = UnsafeBufferPointer(start: bytes + entry.offset - 1, count: entry.length + 2)
        return JSONTreeBuilder.string(in: quoted)
    }

    /// Returns whether this is the given key of an object at the given depth.
    @inline(__always)
    func isKey(_ key: String, depth: Int) -> Bool {
        let entry = entry.pointee
        guard entry.kind == .key, entry.depth == depth, entry.length == key.utf8.count else { return false }
        let isEqual = key.utf8.withContiguousStorageIfAvailable { key in
            guard let key = key.baseAddress else { return true }
            return haveEqualBytes(key, bytes + entry.offset, count: entry.length)
        }
        return isEqual ?? plainString.utf8.elementsEqual(key.utf8)
    }

    /// Where the value begins in the text.
    var start: Int { entry.pointee.offset - (kind == .string || kind == .escapedString ? 1 : 0) }

    /// The elements of an array, or the keys of an object.
    var children: some Sequence<TapeCursor> {
        let isObject = kind == .object
        let end = entry + entry.pointee.stride
        return sequence(state: advanced(by: 1)) { (next: inout TapeCursor) -> TapeCursor? in
            guard next.entry < end else { return nil }
            defer { next = isObject ? next.advanced(by: 1 + next.entry[1].stride) : next.advanced(by: next.entry.pointee.stride) }
            return next
        }
    }

    var json: JSONValue {
        let entry = entry.pointee
        // The parser is faster than walking the tape, and its stack use does not grow with a value's depth.
        if entry.isContainer {
            let text = UnsafeBufferPointer(start: bytes + entry.offset, count: entry.length)
            // The whole text has met its own limit, which may be higher than the default for a part of it.
            return (try? JSONTreeBuilder.tree(of: text, maximumDepth: JSONValue.depthCeiling, maximumValues: .max)) ?? .null
        }
        switch entry.kind {
        case .bool: return .bool(entry.bool)
        case .integer: return .integer(entry.integer)
        case .number: return .number(entry.number)
        case .null: return .null
        default: return .string(string ?? "")
        }
    }
}
