/// Reads one JSON text from memory.
///
/// It keeps its own stack instead of recursing, so that no input can overflow the thread's. Every read is preceded by a
/// comparison with `end`; the memory must outlive the parser.
struct JSONParser: ~Copyable {
    /// Deeper values would risk the thread's stack when they are compared or freed.
    static let depthCeiling = 1024

    let start: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>
    var cursor: UnsafePointer<UInt8>
    let maximumDepth: Int

    /// The finished values of all open containers.
    var values = ScratchStack<JSONValue>(minimumCapacity: 32)
    /// The keys of all open objects.
    var keys = ScratchStack<ParsedKey>(minimumCapacity: 32)
    var openContainers = ScratchStack<OpenContainer>(minimumCapacity: 8)
    var knownKeys = KeyCache()
    /// Strings with escapes are put together here.
    var unescaped: [UInt8] = []

    init(start: UnsafePointer<UInt8>, count: Int, maximumDepth: Int) {
        self.start = start
        self.end = start + count
        self.cursor = start
        self.maximumDepth = min(max(maximumDepth, 0), Self.depthCeiling)
    }

    /// Reads the value and checks that nothing follows it.
    mutating func parse() throws(JSONParsingError) -> JSONValue {
        var container = OpenContainer(kind: .none, firstValue: 0, firstKey: 0)
        while true {
            var value: JSONValue
            switch try nextSignificantByte() {
            case UInt8(ascii: "\""):
                cursor += 1
                value = .string(try parseString())
            case UInt8(ascii: "{"):
                container = try open(.object, inside: container)
                if try nextSignificantByte() != UInt8(ascii: "}") {
                    try parseKey(in: &container)
                    continue
                }
                cursor += 1
                container = close()
                value = .object(JSONObject())
            case UInt8(ascii: "["):
                container = try open(.array, inside: container)
                guard try nextSignificantByte() == UInt8(ascii: "]") else { continue }
                cursor += 1
                container = close()
                value = .array([])
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                value = try parseNumber()
            case UInt8(ascii: "t"):
                try expect("true")
                value = .bool(true)
            case UInt8(ascii: "f"):
                try expect("false")
                value = .bool(false)
            case UInt8(ascii: "n"):
                try expect("null")
                value = .null
            case let byte:
                throw failure(.unexpectedByte(byte), at: cursor)
            }

            // The value may be the last of its container, and that container the last of its own.
            while true {
                if container.kind == .none {
                    try checkNothingFollows()
                    return value
                }
                values.push(value)
                let byte = try nextSignificantByte()
                cursor += 1
                if byte == UInt8(ascii: ",") {
                    if container.kind == .object { try parseKey(in: &container) }
                    break
                }
                switch (container.kind, byte) {
                case (.object, UInt8(ascii: "}")): value = .object(takeObject(of: container))
                case (.array, UInt8(ascii: "]")): value = .array(takeArray(of: container))
                default: throw failure(.unexpectedByte(byte), at: cursor - 1)
                }
                container = close()
            }
        }
    }

    /// Skips white space and returns the byte after it, without consuming that.
    @inline(__always)
    mutating func nextSignificantByte() throws(JSONParsingError) -> UInt8 {
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
}
