/// Reads one JSON text from memory, and tells a builder what it reads.
///
/// It keeps its own stack instead of recursing, so that no input can overflow the thread's. Every read is preceded by a
/// comparison with `end`; the memory must outlive the parser.
struct JSONParser<Builder: JSONBuilder & ~Copyable>: ~Copyable {
    let start: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>
    var cursor: UnsafePointer<UInt8>
    var builder: Builder
    /// Strings with escapes are put together here.
    var unescaped: [UInt8] = []

    private let maximumDepth: Int
    private var openContainers = ScratchStack<OpenContainer>(minimumCapacity: 8)

    /// An array or object whose end has not been read yet.
    struct OpenContainer {
        let kind: JSONContainerKind
        var content: Builder.Container
    }

    init(start: UnsafePointer<UInt8>, count: Int, maximumDepth: Int, builder: consuming Builder) {
        self.start = start
        self.end = start + count
        self.cursor = start
        self.maximumDepth = min(max(maximumDepth, 0), JSONValue.depthCeiling)
        self.builder = builder
    }

    /// Reads the value and checks that nothing follows it.
    mutating func parse() throws(JSONParsingError) -> Builder.Value {
        var container = OpenContainer(kind: .outside, content: builder.outside)
        while true {
            var value: Builder.Value
            switch try nextSignificantByte() {
            case UInt8(ascii: "\""):
                value = try parseString()
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
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                value = try parseNumber()
            case UInt8(ascii: "t"):
                value = builder.bool(true, at: offset)
                try expect("true")
            case UInt8(ascii: "f"):
                value = builder.bool(false, at: offset)
                try expect("false")
            case UInt8(ascii: "n"):
                value = builder.null(at: offset)
                try expect("null")
            case let byte:
                throw failure(.unexpectedByte(byte), at: cursor)
            }

            // The value may be the last of its container, and that container the last of its own.
            while true {
                if container.kind == .outside {
                    try checkNothingFollows()
                    return value
                }
                builder.add(value)
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
        guard openContainers.count < maximumDepth else { throw failure(.nestedTooDeeply(limit: maximumDepth), at: cursor) }
        let content = builder.open(kind, at: offset)
        cursor += 1
        openContainers.push(outer)
        return OpenContainer(kind: kind, content: content)
    }

    /// Ends the innermost container, which becomes a value of the one around it.
    @inline(__always)
    private mutating func close(_ container: inout OpenContainer) -> Builder.Value {
        let value = builder.close(container.kind, container.content, endingAt: offset)
        container = openContainers.giveUp(from: openContainers.count - 1).move()
        return value
    }

    /// Reads a key and the colon after it.
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
    /// How many bytes stand before the cursor.
    var offset: Int { cursor - start }

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
