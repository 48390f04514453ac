/// The reason why a text is not valid JSON, and the position of the error.
public struct JSONParsingError: Error, Hashable, Sendable {
    /// The violation of RFC 8259, or of a limit of this parser.
    public enum Reason: Hashable, Sendable {
        /// The text ends inside a value, or is empty.
        case unexpectedEnd
        /// A byte that is not allowed here, such as a byte order mark, a trailing comma, `NaN`, or a quote other than
        /// `"`.
        case unexpectedByte(UInt8)
        /// The value is followed by something other than white space.
        case trailingBytes
        /// A number such as `01`.
        case leadingZero
        /// A number whose exponent has more than nine digits.
        case numberOutOfRange
        /// An unescaped control character in a string.
        case controlCharacter(UInt8)
        /// A backslash that does not begin an escape.
        case invalidEscape
        /// Bytes in a string that are not valid UTF-8: truncated, overlong, surrogates, or above U+10FFFF.
        case invalidUTF8
        /// Arrays and objects are nested more deeply than the limit.
        case nestedTooDeeply(limit: Int)
        /// The text has more values than the limit, including those in arrays and objects.
        case tooManyValues(limit: Int)
    }

    /// The reason why parsing stopped.
    public let reason: Reason
    /// The offset of the byte where parsing stopped.
    ///
    /// This is the first byte of the number for `numberOutOfRange`, the backslash for `invalidEscape`, the first byte
    /// of the sequence for `invalidUTF8`, the length of the text for `unexpectedEnd`, and the comma or first byte that
    /// begins the first value beyond the limit for `tooManyValues`.
    public let offset: Int

    package init(reason: Reason, offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}

extension JSONParsingError: CustomStringConvertible {
    /// The reason and the offset. Never includes the text itself, which may contain secrets.
    public var description: String { "Invalid JSON at byte \(offset): \(reason.explanation)" }
}

extension JSONParsingError.Reason {
    fileprivate var explanation: String {
        switch self {
        case .unexpectedEnd: "the text ends unexpectedly"
        case .unexpectedByte(let byte): "unexpected byte 0x\(String(byte, radix: 16, uppercase: true))"
        case .trailingBytes: "the value is followed by more text"
        case .leadingZero: "a number must not have leading zeros"
        case .numberOutOfRange: "the exponent of a number has more than nine digits"
        case .controlCharacter(let byte):
            "the control character 0x\(String(byte, radix: 16, uppercase: true)) must be escaped in a string"
        case .invalidEscape: "a string contains an invalid escape"
        case .invalidUTF8: "a string is not valid UTF-8"
        case .nestedTooDeeply(let limit): "arrays and objects are nested more than \(limit) levels deep"
        case .tooManyValues(let limit): "the text has more than \(limit) values"
        }
    }
}
