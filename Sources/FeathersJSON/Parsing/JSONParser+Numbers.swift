extension JSONParser where Builder: ~Copyable {
    /// Reads the number at the cursor, which stands on its sign or first digit.
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
            // 19 digits fit 64 bits without a sign, so that only the sign's limit has to be checked.
            if cursor - firstDigit <= 19, let integer = digits.integer(isNegative: isNegative) {
                return builder.integer(integer, at: begin - start)
            }
            return builder.number(try makeDouble(from: begin, digits: digits, isNegative: isNegative), at: begin - start)
        }
        return builder.number(try parseFraction(of: digits, from: begin, isNegative: isNegative), at: begin - start)
    }

    /// Reads a fraction, an exponent, or both.
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
            // Whatever has so many digits is decided by the slow path.
            let magnitude = exponent.count > 6 ? 999_999 : Int(truncatingIfNeeded: exponent.significand)
            digits.exponent += sign == UInt8(ascii: "-") ? -magnitude : magnitude
        }
        return try makeDouble(from: begin, digits: digits, isNegative: isNegative)
    }

    /// Consumes one digit or more.
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
    private func makeDouble(
        from begin: UnsafePointer<UInt8>, digits: DecimalDigits, isNegative: Bool
    ) throws(JSONParsingError) -> Double {
        if let double = digits.exactDouble { return isNegative ? -double : double }
        let text = String(decoding: UnsafeBufferPointer(start: begin, count: cursor - begin), as: UTF8.self)
        guard let double = Double(text), double.isFinite else { throw failure(.numberOutOfRange, at: begin) }
        return double
    }
}

/// The digits of a number that is being read.
struct DecimalDigits {
    /// The digits as an integer; meaningless above 19 of them.
    private(set) var significand: UInt64 = 0
    /// How many digits there are, leading zeros aside.
    private(set) var count = 0
    /// The power of ten the significand is to be multiplied by.
    var exponent = 0

    @inline(__always)
    mutating func append(_ digit: UInt8) {
        significand = significand &* 10 &+ UInt64(digit)
        if significand != 0 || count != 0 { count &+= 1 }
    }

    /// The value as an integer; nil where it does not fit, and for `-0`, which only a `Double` can tell from zero.
    @inline(__always)
    func integer(isNegative: Bool) -> Int64? {
        guard isNegative else { return Int64(exactly: significand) }
        guard significand != 0, significand <= Int64.min.magnitude else { return nil }
        return Int64(truncatingIfNeeded: 0 &- significand)
    }

    /// The value, where a single operation on two exact numbers gives it correctly rounded (Clinger's fast path).
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

    /// The powers of ten a `Double` holds exactly.
    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ]
}
