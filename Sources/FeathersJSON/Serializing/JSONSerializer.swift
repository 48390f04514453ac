extension JSONValue {
    /// Returns the value as UTF-8 JSON text, as JavaScript's `JSON.stringify` writes it, with keys in their order.
    ///
    /// - Throws: `JSONSerializationError` if a number is NaN or infinite, which JSON cannot represent.
    public func serialized() throws(JSONSerializationError) -> [UInt8] {
        var serializer = JSONSerializer()
        try serializer.write(self)
        return serializer.output.withBytes { Array($0) }
    }

    /// Appends the value's JSON text to `bytes`, which stays unchanged if an error is thrown.
    package func serialize(into bytes: inout [UInt8]) throws(JSONSerializationError) {
        var serializer = JSONSerializer()
        try serializer.write(self)
        serializer.output.withBytes { bytes.append(contentsOf: $0) }
    }

    /// Returns the value's JSON text after other text, in a string that is written only once.
    package func serialized(after prefix: String) throws(JSONSerializationError) -> String {
        var serializer = JSONSerializer()
        var prefix = prefix
        prefix.withUTF8 { serializer.output.append(contentsOf: $0) }
        try serializer.write(self)
        return serializer.output.withBytes { String(decoding: $0, as: UTF8.self) }
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as JSON text.
    ///
    /// Unlike `serialized()`, this property never fails: NaN and infinities are written with their JavaScript names.
    public var description: String {
        var serializer = JSONSerializer(allowsNonFinite: true)
        // Never throws here, because non-finite numbers are allowed.
        try? serializer.write(self)
        return serializer.output.withBytes { String(decoding: $0, as: UTF8.self) }
    }
}

extension JSONObject: CustomStringConvertible {
    /// The object as JSON text, with its keys in their order.
    public var description: String { JSONValue.object(self).description }
}

/// Writes values as JavaScript's `JSON.stringify` does, without spaces.
struct JSONSerializer: ~Copyable {
    var output: ByteBuffer
    /// Whether NaN and infinities are written with their JavaScript names instead of refused. For descriptions only.
    let allowsNonFinite: Bool

    init(minimumCapacity: Int = 256, allowsNonFinite: Bool = false) {
        output = ByteBuffer(minimumCapacity: minimumCapacity)
        self.allowsNonFinite = allowsNonFinite
    }

    mutating func write(_ value: borrowing JSONValue) throws(JSONSerializationError) {
        switch copy value {
        case .null: output.append("null")
        case .bool(let bool): bool ? output.append("true") : output.append("false")
        case .integer(let integer): write(integer)
        case .number(let number):
            guard number.isFinite || allowsNonFinite else {
                throw JSONSerializationError(path: "", number: number.javaScriptDescription)
            }
            write(number)
        case .decimal(let decimal): write(verbatim: decimal.text)
        case .string(let string): write(string)
        case .array(let array): try write(array)
        case .object(let object): try write(object)
        }
    }

    private mutating func write(_ array: [JSONValue]) throws(JSONSerializationError) {
        output.append(UInt8(ascii: "["))
        for index in array.indices {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            do {
                try write(array[index])
            } catch {
                throw error.inside(index: index)
            }
        }
        output.append(UInt8(ascii: "]"))
    }

    private mutating func write(_ object: JSONObject) throws(JSONSerializationError) {
        output.append(UInt8(ascii: "{"))
        let entries = object.storedEntries
        for index in entries.indices {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            write(entries[index].key)
            output.append(UInt8(ascii: ":"))
            do {
                try write(entries[index].value)
            } catch {
                throw error.inside(key: entries[index].key)
            }
        }
        output.append(UInt8(ascii: "}"))
    }

    mutating func write(_ string: String) {
        let written: Void? = string.utf8.withContiguousStorageIfAvailable { writeQuoted($0) }
        if written == nil {
            var copy = string
            copy.withUTF8 { writeQuoted($0) }
        }
    }

    private mutating func write(verbatim text: String) {
        var text = text
        text.withUTF8 { output.append(contentsOf: $0) }
    }

    private mutating func writeQuoted(_ bytes: UnsafeBufferPointer<UInt8>) {
        output.append(UInt8(ascii: "\""))
        if let start = bytes.baseAddress {
            let end = start + bytes.count
            var runStart = start
            var cursor = start
            while true {
                cursor = nextEscapable(from: cursor, end: end)
                output.append(contentsOf: UnsafeBufferPointer(start: runStart, count: cursor - runStart))
                guard cursor < end else { break }
                writeEscape(cursor.pointee)
                cursor += 1
                runStart = cursor
            }
        }
        output.append(UInt8(ascii: "\""))
    }

    /// Returns the next byte that must be escaped, or `end`, scanning eight bytes at a time.
    @inline(__always)
    private func nextEscapable(from start: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var cursor = start
        while end - cursor >= 8 {
            let word = UInt64(littleEndian: UnsafeRawPointer(cursor).loadUnaligned(as: UInt64.self))
            // The lowest flag is exact; see JSONParser.scanPlainBytes.
            let quotes = word ^ (ones &* 0x22)
            let backslashes = word ^ (ones &* 0x5C)
            let stops =
                ((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes) | ((word &- ones &* 0x20) & ~word)
            let flags = stops & (ones &* 0x80)
            if flags != 0 { return cursor + flags.trailingZeroBitCount >> 3 }
            cursor += 8
        }
        while cursor < end {
            let byte = cursor.pointee
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return cursor }
            cursor += 1
        }
        return end
    }

    private mutating func writeEscape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): output.append("\\\"")
        case UInt8(ascii: "\\"): output.append("\\\\")
        case 0x08: output.append("\\b")
        case 0x09: output.append("\\t")
        case 0x0A: output.append("\\n")
        case 0x0C: output.append("\\f")
        case 0x0D: output.append("\\r")
        default:
            output.append("\\u00")
            output.append(UInt8(ascii: "0") + byte >> 4)
            let low = byte & 0xF
            output.append(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10)
        }
    }

    mutating func write(_ integer: Int64) {
        var rest = integer.magnitude
        // Int64.min has 19 digits.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var position = digits.count
            repeat {
                let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
                position &-= 1
                digits[position] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit)
                rest = quotient
            } while rest != 0
            if integer < 0 { output.append(UInt8(ascii: "-")) }
            output.append(contentsOf: UnsafeBufferPointer(rebasing: digits[position...]))
        }
    }

    /// Writes a number as JavaScript's `Number::toString` does (ECMA-262, 6.1.6.1.20).
    mutating func write(_ number: Double) {
        // Below 2^53, an integral number has the digits of the integer; -0 is written as 0.
        if number.magnitude < 9_007_199_254_740_992, let integer = Int64(exactly: number) {
            write(integer)
            return
        }
        guard number.isFinite else {
            output.append(number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity")
            return
        }
        if number < 0 { output.append(UInt8(ascii: "-")) }
        // Swift's description has the same digits, the fewest that parse to this number, in a different layout.
        DecimalDigits.read(number.description) { write(digits: $0.digits, pointPosition: $0.point) }
    }

    /// Writes `0.digits` times ten to the power of `pointPosition`.
    private mutating func write(digits: UnsafeBufferPointer<UInt8>, pointPosition: Int) {
        switch pointPosition {
        case digits.count...21:
            output.append(contentsOf: digits)
            for _ in digits.count..<pointPosition { output.append(UInt8(ascii: "0")) }
        case 1...21:
            output.append(contentsOf: UnsafeBufferPointer(rebasing: digits[..<pointPosition]))
            output.append(UInt8(ascii: "."))
            output.append(contentsOf: UnsafeBufferPointer(rebasing: digits[pointPosition...]))
        case -5...0:
            output.append("0.")
            for _ in pointPosition..<0 { output.append(UInt8(ascii: "0")) }
            output.append(contentsOf: digits)
        default:
            output.append(digits[0])
            if digits.count > 1 {
                output.append(UInt8(ascii: "."))
                output.append(contentsOf: UnsafeBufferPointer(rebasing: digits[1...]))
            }
            output.append(UInt8(ascii: "e"))
            output.append(UInt8(ascii: pointPosition > 0 ? "+" : "-"))
            write(Int64((pointPosition - 1).magnitude))
        }
    }
}

extension Double {
    /// The number as JavaScript's `String(x)` writes it.
    var javaScriptDescription: String {
        var serializer = JSONSerializer(minimumCapacity: 32, allowsNonFinite: true)
        serializer.write(self)
        return serializer.output.withBytes { String(decoding: $0, as: UTF8.self) }
    }
}

/// An output buffer that doubles its capacity when it is full.
struct ByteBuffer: ~Copyable {
    private(set) var count = 0
    private var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int

    init(minimumCapacity: Int) {
        base = .allocate(capacity: minimumCapacity)
        capacity = minimumCapacity
    }

    deinit {
        base.deallocate()
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        reserve(1)
        base[count] = byte
        count &+= 1
    }

    @inline(__always)
    mutating func append(contentsOf bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress else { return }
        reserve(bytes.count)
        (base + count).initialize(from: source, count: bytes.count)
        count &+= bytes.count
    }

    @inline(__always)
    mutating func append(_ literal: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    @inline(__always)
    mutating func reserve(_ additional: Int) {
        if capacity &- count < additional { grow(by: additional) }
    }

    private mutating func grow(by additional: Int) {
        let newCapacity = max(capacity * 2, count + additional)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: newCapacity)
        larger.moveInitialize(from: base, count: count)
        base.deallocate()
        base = larger
        capacity = newCapacity
    }

    /// Calls `body` with the bytes written so far. `body` must not write to the buffer.
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        body(UnsafeBufferPointer(start: base, count: count))
    }
}
