/// Why bytes are not a JSON text, and where.
public struct JSONParsingError: Error, Hashable, Sendable {
    /// How the bytes violate RFC 8259 or a limit of this parser.
    public enum Reason: Hashable, Sendable {
        /// The text ends inside a value, or is empty.
        case unexpectedEnd
        /// A byte that is not allowed here: a byte order mark, a trailing comma, `NaN`, a quote other than `"`.
        case unexpectedByte(UInt8)
        /// Something other than white space follows the value.
        case trailingBytes
        /// A number such as `01`.
        case leadingZero
        /// A number beyond the range of a `Double`, such as `1e400`.
        ///
        /// JavaScript reads it as `Infinity`, which JSON cannot express, so the value could not be sent back.
        case numberOutOfRange
        /// An unescaped control character in a string.
        case controlCharacter(UInt8)
        /// A backslash that does not begin an escape.
        case invalidEscape
        /// Bytes in a string that are not UTF-8: truncated, overlong, surrogates, above U+10FFFF.
        case invalidUTF8
        /// More arrays and objects inside each other than the limit.
        case nestedTooDeeply(limit: Int)
        /// More values than the limit, those in arrays and objects included.
        case tooManyValues(limit: Int)
    }

    /// What is wrong.
    public let reason: Reason
    /// The offset of the byte where parsing stopped.
    ///
    /// This is the number's first byte for `numberOutOfRange`, the backslash for `invalidEscape`, the first byte of the
    /// sequence for `invalidUTF8`, the length of the text for `unexpectedEnd`, and for `tooManyValues` the comma or the first byte that
    /// begins the first value beyond the limit.
    public let offset: Int

    package init(reason: Reason, offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}

extension JSONParsingError: CustomStringConvertible {
    /// The reason and the offset. Never the text itself, which may contain secrets.
    public var description: String { "Invalid JSON at byte \(offset): \(reason.explanation)" }
}

extension JSONParsingError.Reason {
    fileprivate var explanation: String {
        switch self {
        case .unexpectedEnd: "the text ends too early"
        case .unexpectedByte(let byte): "unexpected byte 0x\(String(byte, radix: 16, uppercase: true))"
        case .trailingBytes: "something follows the value"
        case .leadingZero: "a number must not start with a zero"
        case .numberOutOfRange: "the number is out of the range of a Double, and JSON has no infinity"
        case .controlCharacter(let byte): "the control character 0x\(String(byte, radix: 16, uppercase: true)) must be escaped in a string"
        case .invalidEscape: "unknown escape in a string"
        case .invalidUTF8: "the string is not UTF-8"
        case .nestedTooDeeply(let limit): "more than \(limit) arrays and objects inside each other"
        case .tooManyValues(let limit): "more than \(limit) values"
        }
    }
}
