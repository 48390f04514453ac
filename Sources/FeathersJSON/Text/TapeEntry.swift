/// Where a value, or a key, stands in a JSON text, and as much of it as two words hold.
struct TapeEntry: Sendable {
    /// No enumeration: made from stored bits, one would be checked each time it is looked at.
    struct Kind: Equatable, Sendable {
        let rawValue: UInt64

        static let null = Kind(rawValue: 0)
        static let bool = Kind(rawValue: 1)
        static let integer = Kind(rawValue: 2)
        static let number = Kind(rawValue: 3)
        /// A string as it stands in the text.
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
    ///   - offset: where the value begins in the text; of strings what comes after the quote.
    ///   - depth: how many arrays and objects are around it, itself included; only keys and containers tell.
    ///   - word: a scalar's value or a string's length; an array or object is told when it ends.
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
    /// How many bytes a string, an array or an object has in the text.
    @inline(__always)
    var length: Int { Int(truncatingIfNeeded: word & 0xFFFF_FFFF) }
    /// How many marks there are to the one after this value and all that is in it.
    @inline(__always)
    var stride: Int { isContainer ? Int(truncatingIfNeeded: word >> 32) : 1 }

    /// Says where an array or object ends: how many marks it has, with its own, and the offset behind its bracket.
    @inline(__always)
    mutating func close(stride: Int, endingAt end: Int) {
        word = UInt64(truncatingIfNeeded: stride) << 32 | UInt64(truncatingIfNeeded: end - offset)
    }
}
