extension JSONValue {
    /// The default limit on nesting.
    public static let defaultMaximumDepth = 512

    /// The default limit on values in a text of up to 16 MiB. A larger text may hold one value per four bytes.
    public static let defaultMaximumValues = 4 << 20

    /// Comparing or freeing deeper values could overflow a thread's stack.
    static let depthCeiling = 1024

    /// Parses UTF-8 JSON text, exactly as RFC 8259 defines it.
    ///
    /// An integer that fits `Int64` becomes `.integer`. Any other number becomes the nearest `Double`, unless that
    /// changes a digit: then it is `.decimal`, which keeps the text. For a repeated key, the last value wins, at the
    /// position of the first, as in JavaScript. An escaped lone surrogate (`"\ud83d"`), which JavaScript can send but a
    /// Swift string cannot hold, becomes U+FFFD.
    ///
    /// - Parameters:
    ///   - bytes: The entire text, without a byte order mark.
    ///   - maximumDepth: How deeply arrays and objects may be nested. Values above 1024 count as 1024, because
    ///     comparing or freeing deeper values could overflow a thread's stack.
    ///   - maximumValues: How many values the text may hold, including those in arrays and objects. Each value takes
    ///     more memory than its text. Nil means ``defaultMaximumValues``, or one value per four bytes of the text if
    ///     that is more.
    /// - Throws: `JSONParsingError` with the reason and the byte offset.
    public init(
        parsing bytes: some Collection<UInt8>, maximumDepth: Int = defaultMaximumDepth, maximumValues: Int? = nil
    ) throws(JSONParsingError) {
        let result = bytes.withContiguousStorageIfAvailable { JSONParser.parse($0, maximumDepth, maximumValues) }
        if let result {
            self = try result.get()
        } else {
            self = try Array(bytes).withUnsafeBufferPointer { JSONParser.parse($0, maximumDepth, maximumValues) }.get()
        }
    }

    /// Parses JSON text from a string. Like `init(parsing:maximumDepth:maximumValues:)` for bytes; offsets count UTF-8
    /// bytes.
    ///
    /// - Throws: `JSONParsingError` with the reason and the byte offset.
    public init(parsing text: String, maximumDepth: Int = defaultMaximumDepth, maximumValues: Int? = nil)
        throws(JSONParsingError)
    {
        var text = text
        self = try text.withUTF8 { JSONParser.parse($0, maximumDepth, maximumValues) }.get()
    }
}

/// Parses one JSON text into the tree of its values.
///
/// The parser uses its own stack instead of recursion, so no input can overflow the thread's stack. Every read is
/// preceded by a comparison with `end`. The memory must outlive the parser.
struct JSONParser: ~Copyable {
    let start: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>
    var cursor: UnsafePointer<UInt8>
    /// The last string that had escapes.
    var unescaped: [UInt8] = []
    var strings = StringCache()

    private let maximumDepth: Int
    /// The members and elements of all open containers. An object's member gets its value after its key; an element has
    /// no key.
    private var members = MemberStack()
    /// The containers around the innermost one.
    private var outer: [Container] = []

    /// An array or object whose end has not been reached.
    struct Container {
        enum Kind {
            /// The level around the outermost value.
            case outside
            case array
            case object
        }

        var kind = Kind.outside
        /// The position of its first member or element on the stack.
        var first = 0
        /// One bit per hash seen, so that most keys are known to be new without a comparison.
        var seenKeys: UInt64 = 0
        var hasRepeatedKeys = false
    }

    static func parse(_ text: UnsafeBufferPointer<UInt8>, _ maximumDepth: Int, _ maximumValues: Int?) -> Result<
        JSONValue, JSONParsingError
    > {
        Result { () throws(JSONParsingError) in
            guard let start = text.baseAddress else { throw JSONParsingError(reason: .unexpectedEnd, offset: 0) }
            try JSONValueCount.check(text, limit: maximumValues ?? JSONValueCount.defaultLimit(forBytes: text.count))
            var parser = JSONParser(start, count: text.count, maximumDepth: maximumDepth)
            return try parser.parse()
        }
    }

    init(_ start: UnsafePointer<UInt8>, count: Int, maximumDepth: Int) {
        (self.start, cursor, end) = (start, start, start + count)
        self.maximumDepth = min(max(maximumDepth, 0), JSONValue.depthCeiling)
    }

    private mutating func parse() throws(JSONParsingError) -> JSONValue {
        var container = Container()
        while true {
            var value: JSONValue
            switch try nextSignificantByte() {
            case UInt8(ascii: "\""): value = .string(try parseString())
            case UInt8(ascii: "{"):
                try open(.object, in: &container)
                if try nextSignificantByte() != UInt8(ascii: "}") {
                    try parseKey(in: &container)
                    continue
                }
                cursor += 1
                value = close(&container)
            case UInt8(ascii: "["):
                try open(.array, in: &container)
                guard try nextSignificantByte() == UInt8(ascii: "]") else { continue }
                cursor += 1
                value = close(&container)
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): value = try parseNumber()
            case UInt8(ascii: "t"): value = .bool(try expect("true", for: true))
            case UInt8(ascii: "f"): value = .bool(try expect("false", for: false))
            case UInt8(ascii: "n"): value = try expect("null", for: .null)
            case let byte: throw failure(.unexpectedByte(byte), at: cursor)
            }

            // The value may be the last in its container, and that container the last in the one around it.
            while true {
                switch container.kind {
                case .outside:
                    try checkNothingFollows()
                    return consume value
                case .array: members.push(JSONObject.Entry(key: "", value: consume value))
                case .object: members.setLast(consume value)
                }
                let byte = try nextSignificantByte()
                cursor += 1
                if byte == UInt8(ascii: ",") {
                    if container.kind == .object { try parseKey(in: &container) }
                    break
                }
                guard byte == (container.kind == .object ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                    throw failure(.unexpectedByte(byte), at: cursor - 1)
                }
                value = close(&container)
            }
        }
    }

    /// Consumes the opening bracket and begins a container.
    @inline(__always)
    private mutating func open(_ kind: Container.Kind, in container: inout Container) throws(JSONParsingError) {
        // The outermost level needs no place on the stack, so a flat record takes no memory for it.
        let isNested = container.kind != .outside
        guard outer.count + (isNested ? 1 : 0) < maximumDepth else {
            throw failure(.nestedTooDeeply(limit: maximumDepth), at: cursor)
        }
        cursor += 1
        if isNested { outer.append(container) }
        container = Container(kind: kind, first: members.count)
    }

    /// Ends the innermost container, which becomes a value in the one around it.
    @inline(__always)
    private mutating func close(_ container: inout Container) -> JSONValue {
        let value: JSONValue
        if container.kind == .object {
            let isUnique = members.count - container.first <= JSONObject.indexingThreshold && !container.hasRepeatedKeys
            let entries = members.popMembers(from: container.first)
            value = .object(isUnique ? JSONObject(uniqueEntries: entries) : JSONObject(mergingEntries: entries))
        } else {
            value = .array(members.popElements(from: container.first))
        }
        container = outer.popLast() ?? Container()
        return value
    }

    @inline(__always)
    private mutating func parseKey(in container: inout Container) throws(JSONParsingError) {
        let byte = try nextSignificantByte()
        guard byte == UInt8(ascii: "\"") else { throw failure(.unexpectedByte(byte), at: cursor) }
        let key = try parseKeyString()
        let bit: UInt64 = 1 << (key.hash >> 58)
        // Large objects are checked while they are indexed.
        if container.seenKeys & bit != 0, members.count - container.first < JSONObject.indexingThreshold,
            !container.hasRepeatedKeys
        {
            container.hasRepeatedKeys = members.contains(key.string, from: container.first)
        }
        container.seenKeys |= bit
        members.push(JSONObject.Entry(key: key.string, value: .null))
        let separator = try nextSignificantByte()
        guard separator == UInt8(ascii: ":") else { throw failure(.unexpectedByte(separator), at: cursor) }
        cursor += 1
    }

    /// Skips white space and returns the next byte without consuming it.
    @inline(__always)
    private mutating func nextSignificantByte() throws(JSONParsingError) -> UInt8 {
        while cursor < end {
            let byte = cursor.pointee
            if byte > 0x20 { return byte }
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else {
                throw failure(.unexpectedByte(byte), at: cursor)
            }
            cursor += 1
        }
        throw failure(.unexpectedEnd, at: end)
    }

    private mutating func checkNothingFollows() throws(JSONParsingError) {
        while cursor < end {
            let byte = cursor.pointee
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else {
                throw failure(.trailingBytes, at: cursor)
            }
            cursor += 1
        }
    }

    private mutating func expect<Value>(_ literal: StaticString, for value: Value) throws(JSONParsingError) -> Value {
        for index in 0..<literal.utf8CodeUnitCount {
            guard cursor < end else { throw failure(.unexpectedEnd, at: end) }
            guard cursor.pointee == literal.utf8Start[index] else {
                throw failure(.unexpectedByte(cursor.pointee), at: cursor)
            }
            cursor += 1
        }
        return value
    }

    func failure(_ reason: JSONParsingError.Reason, at position: UnsafePointer<UInt8>) -> JSONParsingError {
        JSONParsingError(reason: reason, offset: position - start)
    }
}
