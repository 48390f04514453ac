extension JSONParser {
    /// Parses the number at the cursor, which is on its sign or first digit.
    @inline(__always)
    mutating func parseNumber() throws(JSONParsingError) -> JSONValue {
        let begin = cursor
        let number = try scanNumber()
        if let integer = number.integer { return .integer(integer) }
        if number.count <= 15, let double = number.nearestDouble { return .number(double) }
        return number.valueOffTheFastPath(in: UnsafeBufferPointer(start: begin, count: cursor - begin))
    }

    @inline(__always)
    fileprivate mutating func scanNumber() throws(JSONParsingError) -> ScannedNumber {
        let begin = cursor
        var number = ScannedNumber(isNegative: cursor.pointee == UInt8(ascii: "-"))
        if number.isNegative { cursor += 1 }
        let firstDigit = cursor
        try consumeDigits(into: &number)
        if firstDigit.pointee == UInt8(ascii: "0"), cursor - firstDigit > 1 {
            throw failure(.leadingZero, at: firstDigit)
        }
        let next = cursor < end ? cursor.pointee : 0
        if next == UInt8(ascii: ".") || next | 0x20 == UInt8(ascii: "e") {
            try scanFraction(into: &number, from: begin)
        }
        return number
    }

    private mutating func scanFraction(into number: inout ScannedNumber, from begin: UnsafePointer<UInt8>)
        throws(JSONParsingError)
    {
        number.isPlain = false
        if cursor.pointee == UInt8(ascii: ".") {
            cursor += 1
            let firstDigit = cursor
            try consumeDigits(into: &number)
            number.exponent = -(cursor - firstDigit)
        }
        if cursor < end, cursor.pointee | 0x20 == UInt8(ascii: "e") {
            cursor += 1
            let sign = cursor < end ? cursor.pointee : 0
            if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { cursor += 1 }
            var exponent = ScannedNumber(isNegative: sign == UInt8(ascii: "-"))
            try consumeDigits(into: &exponent)
            guard exponent.count <= 9 || number.count == 0 else { throw failure(.numberOutOfRange, at: begin) }
            number.exponent &+= (exponent.isNegative ? -1 : 1) &* Int(truncatingIfNeeded: exponent.significand)
        }
    }

    @inline(__always)
    private mutating func consumeDigits(into number: inout ScannedNumber) throws(JSONParsingError) {
        let firstDigit = cursor
        while cursor < end {
            let digit = cursor.pointee &- UInt8(ascii: "0")
            guard digit <= 9 else { break }
            number.append(digit)
            cursor += 1
        }
        guard cursor == firstDigit else { return }
        throw cursor < end ? failure(.unexpectedByte(cursor.pointee), at: cursor) : failure(.unexpectedEnd, at: end)
    }
}

private struct ScannedNumber {
    let isNegative: Bool
    /// Whether there is neither a fraction nor an exponent.
    var isPlain = true
    /// The digits as an integer; meaningless for more than 19 digits.
    private(set) var significand: UInt64 = 0
    /// The number of digits, not counting leading zeros.
    private(set) var count = 0
    /// The power of ten that scales the significand.
    var exponent = 0

    init(isNegative: Bool) { self.isNegative = isNegative }

    @inline(__always)
    mutating func append(_ digit: UInt8) {
        significand = significand &* 10 &+ UInt64(digit)
        if significand != 0 || count != 0 { count &+= 1 }
    }

    /// The number if it is written as an integer and fits; nil also for `-0`, which only a `Double` distinguishes from
    /// zero.
    @inline(__always)
    var integer: Int64? {
        // 19 digits fit in 64 bits without a sign, so only the limit for the sign remains to be checked.
        guard isPlain, count <= 19 else { return nil }
        guard isNegative else { return Int64(exactly: significand) }
        guard significand != 0, significand <= Int64.min.magnitude else { return nil }
        return Int64(truncatingIfNeeded: 0 &- significand)
    }

    /// The nearest `Double`, if one operation on two exact numbers rounds it correctly (Clinger's fast path); otherwise
    /// nil.
    ///
    /// It keeps the digits of a number with up to 15 digits, because no two such numbers have the same `Double`.
    @inline(__always)
    var nearestDouble: Double? {
        guard count <= 19, significand <= 1 << 53 else { return nil }
        if significand == 0 { return isNegative ? -0.0 : 0 }
        let significand = isNegative ? -Double(significand) : Double(significand)
        switch exponent {
        case 0...22: return significand * Self.powersOfTen[exponent]
        case -22...(-1): return significand / Self.powersOfTen[-exponent]
        default: return nil
        }
    }

    /// - Parameter bytes: The text of the number.
    func valueOffTheFastPath(in bytes: UnsafeBufferPointer<UInt8>) -> JSONValue {
        if let double = nearestDouble, hasDigits(of: double) { return .number(double) }
        let text = String(decoding: bytes, as: UTF8.self)
        if count <= 19, let double = Double(text), double.isFinite, hasDigits(of: double) { return .number(double) }
        return JSONValue(numberText: text)
    }

    /// Whether a `Double` is written with the digits of this number. A `Double` is written with the fewest digits that
    /// are read as the same `Double`.
    private func hasDigits(of double: Double) -> Bool {
        var description = double.description
        return description.withUTF8 { bytes in
            guard let start = bytes.baseAddress else { return false }
            var parser = JSONParser(start, count: bytes.count, maximumDepth: 0)
            guard let written = try? parser.scanNumber() else { return false }
            // The same number may be written with zeros at the end, which the slow path compares.
            return written.significand == significand && written.exponent == exponent
                && written.isNegative == isNegative
        }
    }

    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]
}
