/// A type that receives the values of a JSON text from a parser.
///
/// There are two builders: ``JSONTreeBuilder`` creates the tree of values, ``TapeWriter`` the tape. The parser is generic over its builder, so
/// it is specialized for each and the calls add no cost.
protocol JSONBuilder: ~Copyable {
    /// The builder's state for an array or object that is still open.
    associatedtype Container
    associatedtype Value

    /// Whether strings are passed with their escapes resolved. Otherwise, escapes are only checked.
    static var resolvesEscapes: Bool { get }
    /// The state of the level around the outermost value, which is not inside a container.
    var outside: Container { get }

    mutating func null(at offset: Int) -> Value
    mutating func bool(_ bool: Bool, at offset: Int) -> Value
    mutating func integer(_ integer: Int64, at offset: Int) -> Value
    mutating func number(_ number: Double, at offset: Int) -> Value
    /// - Returns: nil if the string is not valid UTF-8.
    mutating func string(_ string: ParsedString) -> Value?

    mutating func open(_ kind: JSONContainerKind, at offset: Int) -> Container
    /// Takes the key for the next value.
    /// - Returns: false if the key is not valid UTF-8 or the builder gives up.
    mutating func key(_ key: ParsedString, in container: inout Container) -> Bool
    /// Takes the next value of a container.
    mutating func add(_ value: consuming Value)
    /// Ends a container. `end` is the offset after its closing bracket.
    mutating func close(_ kind: JSONContainerKind, _ container: consuming Container, endingAt end: Int) -> Value
}

enum JSONContainerKind {
    /// The level around the outermost value.
    case outside
    case array
    case object
}

/// A string as the parser found it.
struct ParsedString {
    /// The string's bytes, with escapes resolved if the builder requires that.
    let bytes: UnsafeBufferPointer<UInt8>
    /// The offset in the text after the opening quote.
    let offset: Int
    let length: Int
    /// Whether the bytes are all ASCII or come from escapes, so they need no UTF-8 check.
    let isASCII: Bool
    let hasEscapes: Bool

    @inline(__always)
    func makeString() -> String? {
        if isASCII, bytes.count <= 15 {
            // Such a string is held without memory of its own. Filling it directly is cheaper than decoding it (measured: 12 ns instead of 14 ns).
            return String(unsafeUninitializedCapacity: bytes.count) { $0.initialize(fromContentsOf: bytes) }
        }
        // Decoding repairs what isn't UTF-8, so only valid bytes stay the same. `String(validating:)` takes longer (measured: 8% of parsing a page).
        let string = String(decoding: bytes, as: UTF8.self)
        return isASCII || string.isExactly(bytes) ? string : nil
    }

    var isWellFormed: Bool { firstIllFormedIndex(in: bytes) == bytes.count }
}

/// Returns the index of the first ill-formed UTF-8 sequence, or `count` if there isn't one (Unicode, table 3-7).
func firstIllFormedIndex(in bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var index = 0
    let raw = UnsafeRawBufferPointer(bytes)
    while index < bytes.count {
        // Texts that are not all ASCII are still mostly ASCII.
        if index + 8 <= bytes.count, raw.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0 {
            index += 8
            continue
        }
        let length: Int
        // The second byte's range rules out overlong forms, surrogates and values above U+10FFFF.
        let second: ClosedRange<UInt8>
        switch bytes[index] {
        case 0x00...0x7F: (length, second) = (1, 0x80...0xBF)
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xE1...0xEC, 0xEE...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: return index
        }
        guard index + length <= bytes.count else { return index }
        if length > 1, !second.contains(bytes[index + 1]) { return index }
        for offset in 2..<max(length, 2) where bytes[index + offset] & 0xC0 != 0x80 { return index }
        index += length
    }
    return index
}
