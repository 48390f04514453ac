/// Why some bytes are no JSON text, and where.
public struct JSONParsingError: Error, Hashable, Sendable {
    /// What RFC 8259, or a limit of this parser, was broken by.
    public enum Reason: Hashable, Sendable {
        /// The text stops inside a value, or is empty.
        case unexpectedEnd
        /// A byte that cannot stand here: a byte order mark, a trailing comma, `NaN`, a quote that is no `"`.
        case unexpectedByte(UInt8)
        /// Something other than white space follows the value.
        case trailingBytes
        /// A number such as `01`.
        case leadingZero
        /// A number beyond the range of a `Double`, such as `1e400`.
        ///
        /// JavaScript reads it as `Infinity`, which no JSON text can express, so that the value could not be sent back.
        case numberOutOfRange
        /// A control character in a string that is not escaped.
        case controlCharacter(UInt8)
        /// A backslash followed by something that is no escape.
        case invalidEscape
        /// Bytes in a string that are not UTF-8: truncated, overlong, surrogates, above U+10FFFF.
        case invalidUTF8
        /// More arrays and objects inside each other than the limit given.
        case nestedTooDeeply(limit: Int)
    }

    /// What was wrong there.
    public let reason: Reason
    /// How many bytes stand before the one where parsing stopped.
    ///
    /// It is the number's first byte for `numberOutOfRange`, the backslash for `invalidEscape`, the first byte of the
    /// sequence for `invalidUTF8`, and the length of the text for `unexpectedEnd`.
    public let offset: Int

    package init(reason: Reason, offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}

extension JSONParsingError: CustomStringConvertible {
    /// The reason and the offset; never the text itself, which may hold secrets.
    public var description: String {
        "Invalid JSON at byte \(offset): \(reason.explanation)"
    }
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
        }
    }
}
