extension JSONValue {
    /// The default limit on nesting.
    public static let defaultMaximumDepth = 512

    /// The default limit on values in a text of up to 16 MiB. A larger text may hold one value per four bytes.
    public static let defaultMaximumValues = 4 << 20

    /// Parses UTF-8 JSON text, exactly as RFC 8259 defines it.
    ///
    /// An integer that fits `Int64` becomes `.integer`; any other number becomes the nearest `Double`. For a repeated key, the last value
    /// wins, at the position of the first, as in JavaScript. An escaped lone surrogate (`"\ud83d"`), which JavaScript can send but a Swift
    /// string cannot hold, becomes U+FFFD.
    ///
    /// - Parameters:
    ///   - bytes: The entire text, without a byte order mark.
    ///   - maximumDepth: How deeply arrays and objects may be nested. Values above 1024 count as 1024, because comparing or freeing deeper
    ///     values could overflow a thread's stack.
    ///   - maximumValues: How many values the text may hold, including those in arrays and objects. Each value takes more memory than its
    ///     text. Nil means ``defaultMaximumValues``, or one value per four bytes of the text if that is more.
    /// - Throws: `JSONParsingError` with the reason and the byte offset.
    public init(
        parsing bytes: some Collection<UInt8>, maximumDepth: Int = defaultMaximumDepth, maximumValues: Int? = nil
    ) throws(JSONParsingError) {
        let result = bytes.withContiguousStorageIfAvailable { buffer in
            Self.parse(UnsafeRawBufferPointer(buffer), maximumDepth, maximumValues)
        }
        if let result {
            self = try result.get()
        } else {
            self = try Array(bytes).withUnsafeBytes { Self.parse($0, maximumDepth, maximumValues) }.get()
        }
    }

    /// Parses JSON text from a string. Like `init(parsing:maximumDepth:maximumValues:)` for bytes; offsets count UTF-8 bytes.
    ///
    /// - Throws: `JSONParsingError` with the reason and the byte offset.
    public init(parsing text: String, maximumDepth: Int = defaultMaximumDepth, maximumValues: Int? = nil) throws(JSONParsingError) {
        var text = text
        self = try text.withUTF8 { Self.parse(UnsafeRawBufferPointer($0), maximumDepth, maximumValues) }.get()
    }

    /// Comparing or freeing deeper values could overflow a thread's stack.
    static let depthCeiling = 1024

    /// Returns the number of values that a text may hold by default.
    static func maximumValues(inTextOf byteCount: Int) -> Int { max(defaultMaximumValues, byteCount / 4) }

    private static func parse(
        _ bytes: UnsafeRawBufferPointer, _ maximumDepth: Int, _ maximumValues: Int?
    ) -> Result<JSONValue, JSONParsingError> {
        bytes.withMemoryRebound(to: UInt8.self) { bytes in
            do throws(JSONParsingError) {
                let limit = maximumValues ?? Self.maximumValues(inTextOf: bytes.count)
                return .success(try JSONTreeBuilder.tree(of: bytes, maximumDepth: maximumDepth, maximumValues: limit))
            } catch {
                return .failure(error)
            }
        }
    }
}

/// Parses one JSON text and passes its values to a builder.
///
/// The parser uses its own stack instead of recursion, so no input can overflow the thread's stack. Every read is preceded by a
/// comparison with `end`. The memory must outlive the parser.
struct JSONParser<Builder: JSONBuilder & ~Copyable>: ~Copyable {
    private(set) var start: UnsafePointer<UInt8>
    private(set) var end: UnsafePointer<UInt8>
    var cursor: UnsafePointer<UInt8>
    var builder: Builder
    var unescaped: [UInt8] = []

    private let maximumDepth: Int
    private var openContainers: ScratchStack<OpenContainer>

    /// An array or object whose end has not been reached.
    struct OpenContainer {
        let kind: JSONContainerKind
        var content: Builder.Container
    }

    init(
        start: UnsafePointer<UInt8>, count: Int, maximumDepth: Int, builder: consuming Builder,
        openContainers: consuming ScratchStack<OpenContainer> = ScratchStack(minimumCapacity: 8)
    ) {
        self.start = start
        self.end = start + count
        self.cursor = start
        self.maximumDepth = min(max(maximumDepth, 0), JSONValue.depthCeiling)
        self.builder = builder
        self.openContainers = openContainers
    }

    /// Begins another text after one that was valid.
    mutating func begin(_ text: UnsafePointer<UInt8>, count: Int) { (start, end, cursor) = (text, text + count, text) }

    mutating func parse() throws(JSONParsingError) -> Builder.Value {
        var container = OpenContainer(kind: .outside, content: builder.outside)
        while true {
            var value: Builder.Value
            switch try nextSignificantByte() {
            case UInt8(ascii: "\""): value = try parseString()
            case UInt8(ascii: "{"):
                container = try open(.object, inside: container)
                if try nextSignificantByte() != UInt8(ascii: "}") {
                    try parseKey(in: &container.content)
                    continue
                }
                cursor += 1
                value = close(&container)
            case UInt8(ascii: "["):
                container = try open(.array, inside: container)
                guard try nextSignificantByte() == UInt8(ascii: "]") else { continue }
                cursor += 1
                value = close(&container)
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): value = try parseNumber()
            case UInt8(ascii: "t"):
                value = builder.bool(true, at: offset)
                try expect("true")
            case UInt8(ascii: "f"):
                value = builder.bool(false, at: offset)
                try expect("false")
            case UInt8(ascii: "n"):
                value = builder.null(at: offset)
                try expect("null")
            case let byte: throw failure(.unexpectedByte(byte), at: cursor)
            }

            // The value may be the last in its container, and that container the last in the one around it.
            while true {
                if container.kind == .outside {
                    try checkNothingFollows()
                    return value
                }
                builder.add(consume value)
                let byte = try nextSignificantByte()
                cursor += 1
                if byte == UInt8(ascii: ",") {
                    if container.kind == .object { try parseKey(in: &container.content) }
                    break
                }
                guard byte == (container.kind == .object ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                    throw failure(.unexpectedByte(byte), at: cursor - 1)
                }
                value = close(&container)
            }
        }
    }

    /// Consumes the opening bracket and returns the container that begins there.
    @inline(__always)
    private mutating func open(_ kind: JSONContainerKind, inside outer: OpenContainer) throws(JSONParsingError) -> OpenContainer {
        // The outside needs no place on the stack, so that a flat record takes no memory for it.
        let isNested = outer.kind != .outside
        guard openContainers.count + (isNested ? 1 : 0) < maximumDepth else {
            throw failure(.nestedTooDeeply(limit: maximumDepth), at: cursor)
        }
        let content = builder.open(kind, at: offset)
        cursor += 1
        if isNested { openContainers.push(outer) }
        return OpenContainer(kind: kind, content: content)
    }

    /// Ends the innermost container, which becomes a value in the one around it.
    @inline(__always)
    private mutating func close(_ container: inout OpenContainer) -> Builder.Value {
        let value = builder.close(container.kind, container.content, endingAt: offset)
        container =
            openContainers.count > 0
            ? openContainers.giveUp(from: openContainers.count - 1).move() : OpenContainer(kind: .outside, content: builder.outside)
        return value
    }

    @inline(__always)
    private mutating func parseKey(in container: inout Builder.Container) throws(JSONParsingError) {
        let byte = try nextSignificantByte()
        guard byte == UInt8(ascii: "\"") else { throw failure(.unexpectedByte(byte), at: cursor) }
        try parseKeyString(in: &container)
        let separator = try nextSignificantByte()
        guard separator == UInt8(ascii: ":") else { throw failure(.unexpectedByte(separator), at: cursor) }
        cursor += 1
    }
}

extension JSONParser where Builder: ~Copyable {
    var offset: Int { cursor - start }

    /// Skips white space and returns the next byte without consuming it.
    @inline(__always)
    mutating func nextSignificantByte() throws(JSONParsingError) -> UInt8 {
        while cursor < end {
            let byte = cursor.pointee
            if byte > 0x20 { return byte }
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { throw failure(.unexpectedByte(byte), at: cursor) }
            cursor += 1
        }
        throw failure(.unexpectedEnd, at: end)
    }

    private mutating func checkNothingFollows() throws(JSONParsingError) {
        while cursor < end {
            let byte = cursor.pointee
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { throw failure(.trailingBytes, at: cursor) }
            cursor += 1
        }
    }

    private mutating func expect(_ literal: StaticString) throws(JSONParsingError) {
        for index in 0..<literal.utf8CodeUnitCount {
            guard cursor < end else { throw failure(.unexpectedEnd, at: end) }
            guard cursor.pointee == literal.utf8Start[index] else { throw failure(.unexpectedByte(cursor.pointee), at: cursor) }
            cursor += 1
        }
    }

    func failure(_ reason: JSONParsingError.Reason, at position: UnsafePointer<UInt8>) -> JSONParsingError {
        JSONParsingError(reason: reason, offset: position - start)
    }

    /// Parses the number at the cursor, which is on its sign or first digit.
    @inline(__always)
    mutating func parseNumber() throws(JSONParsingError) -> Builder.Value {
        let begin = cursor
        let isNegative = cursor.pointee == UInt8(ascii: "-")
        if isNegative { cursor += 1 }

        let firstDigit = cursor
        var digits = DecimalDigits()
        try consumeDigits(into: &digits)
        if firstDigit.pointee == UInt8(ascii: "0"), cursor - firstDigit > 1 { throw failure(.leadingZero, at: firstDigit) }

        let next = cursor < end ? cursor.pointee : 0
        guard next == UInt8(ascii: ".") || next | 0x20 == UInt8(ascii: "e") else {
            // 19 digits fit in 64 bits without a sign, so only the limit for the sign remains to be checked.
            if cursor - firstDigit <= 19, let integer = digits.integer(isNegative: isNegative) {
                return builder.integer(integer, at: begin - start)
            }
            return builder.number(try makeDouble(from: begin, digits: digits, isNegative: isNegative), at: begin - start)
        }
        return builder.number(try parseFraction(of: digits, from: begin, isNegative: isNegative), at: begin - start)
    }

    private mutating func parseFraction(
        of integerDigits: DecimalDigits, from begin: UnsafePointer<UInt8>, isNegative: Bool
    ) throws(JSONParsingError) -> Double {
        var digits = integerDigits
        if cursor.pointee == UInt8(ascii: ".") {
            cursor += 1
            let firstDigit = cursor
            try consumeDigits(into: &digits)
            digits.exponent = -(cursor - firstDigit)
        }
        if cursor < end, cursor.pointee | 0x20 == UInt8(ascii: "e") {
            cursor += 1
            let sign = cursor < end ? cursor.pointee : 0
            if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { cursor += 1 }
            var exponent = DecimalDigits()
            try consumeDigits(into: &exponent)
            // Exponents with this many digits are left to the slow path.
            let magnitude = exponent.count > 6 ? 999_999 : Int(truncatingIfNeeded: exponent.significand)
            digits.exponent += sign == UInt8(ascii: "-") ? -magnitude : magnitude
        }
        return try makeDouble(from: begin, digits: digits, isNegative: isNegative)
    }

    @inline(__always)
    private mutating func consumeDigits(into digits: inout DecimalDigits) throws(JSONParsingError) {
        let firstDigit = cursor
        while cursor < end {
            let digit = cursor.pointee &- UInt8(ascii: "0")
            guard digit <= 9 else { break }
            digits.append(digit)
            cursor += 1
        }
        guard cursor == firstDigit else { return }
        throw cursor < end ? failure(.unexpectedByte(cursor.pointee), at: cursor) : failure(.unexpectedEnd, at: end)
    }

    @inline(__always)
    private func makeDouble(from begin: UnsafePointer<UInt8>, digits: DecimalDigits, isNegative: Bool) throws(JSONParsingError) -> Double {
        if let double = digits.exactDouble { return isNegative ? -double : double }
        let text = String(decoding: UnsafeBufferPointer(start: begin, count: cursor - begin), as: UTF8.self)
        guard let double = Double(text), double.isFinite else { throw failure(.numberOutOfRange, at: begin) }
        return double
    }
}

struct DecimalDigits {
    /// The digits as an integer; meaningless for more than 19 digits.
    private(set) var significand: UInt64 = 0
    /// The number of digits, not counting leading zeros.
    private(set) var count = 0
    /// The power of ten that scales the significand.
    var exponent = 0

    @inline(__always)
    mutating func append(_ digit: UInt8) {
        significand = significand &* 10 &+ UInt64(digit)
        if significand != 0 || count != 0 { count &+= 1 }
    }

    /// Returns the value as an integer; nil if it does not fit, and for `-0`, which only a `Double` distinguishes from zero.
    @inline(__always)
    func integer(isNegative: Bool) -> Int64? {
        guard isNegative else { return Int64(exactly: significand) }
        guard significand != 0, significand <= Int64.min.magnitude else { return nil }
        return Int64(truncatingIfNeeded: 0 &- significand)
    }

    /// The value, if one operation on two exact numbers rounds it correctly (Clinger's fast path); otherwise nil.
    @inline(__always)
    var exactDouble: Double? {
        guard count <= 19, significand <= 1 << 53 else { return nil }
        if significand == 0 { return 0 }
        switch exponent {
        case 0...22: return Double(significand) * Self.powersOfTen[exponent]
        case -22...(-1): return Double(significand) / Self.powersOfTen[-exponent]
        default: return nil
        }
    }

    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ]
}
