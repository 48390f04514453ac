/// A decimal number taken apart: `0.digits` times ten to the power of `point`. The digits have no zeros at either end,
/// and zero has none.
struct DecimalDigits {
    let isNegative: Bool
    /// The digits in ASCII, in memory that is valid during the call to `read`.
    let digits: UnsafeBufferPointer<UInt8>
    let point: Int

    /// Calls `body` with a number taken apart.
    /// - Parameter text: A JSON number, or the description of a `Double`.
    static func read<Result>(_ text: String, _ body: (DecimalDigits) -> Result) -> Result {
        var text = text
        return text.withUTF8 { text in
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: text.count) {
                body(DecimalDigits(text, memory: $0))
            }
        }
    }

    /// - Parameter memory: As many bytes as the text has.
    private init(_ text: UnsafeBufferPointer<UInt8>, memory: UnsafeMutableBufferPointer<UInt8>) {
        guard var next = text.baseAddress, let first = memory.baseAddress else {
            fatalError("A number has at least one digit")
        }
        let end = next + text.count
        let hasSign = next.pointee == UInt8(ascii: "-")
        if hasSign { next += 1 }
        var last = first
        var (point, isFraction) = (0, false)
        while next < end, next.pointee | 0x20 != UInt8(ascii: "e") {
            let byte = next.pointee
            next += 1
            if byte == UInt8(ascii: ".") {
                isFraction = true
            } else if byte == UInt8(ascii: "0"), last == first {
                if isFraction { point &-= 1 }
            } else {
                last.initialize(to: byte)
                last += 1
                if !isFraction { point &+= 1 }
            }
        }
        if next < end {
            let isNegative = next[1] == UInt8(ascii: "-")
            var exponent = 0
            // The parser refuses larger exponents than fit. The sign is not a digit.
            while next + 1 < end {
                next += 1
                if next.pointee >= UInt8(ascii: "0") { exponent = exponent &* 10 &+ Int(next.pointee & 0xF) }
            }
            point += isNegative ? -exponent : exponent
        }
        while last > first, last[-1] == UInt8(ascii: "0") { last -= 1 }
        digits = UnsafeBufferPointer(start: first, count: last - first)
        self.point = last == first ? 0 : point
        isNegative = hasSign && last > first
    }

    /// Compares two numbers. Returns a negative number, zero, or a positive number.
    static func order(of left: String, to right: String) -> Int {
        read(left) { left in read(right) { right in left.order(to: right) } }
    }

    private var sign: Int { digits.isEmpty ? 0 : isNegative ? -1 : 1 }

    private func order(to other: DecimalDigits) -> Int {
        guard sign == other.sign else { return sign - other.sign }
        guard point == other.point else { return point < other.point ? -sign : sign }
        if digits.count == other.digits.count, let left = digits.baseAddress, let right = other.digits.baseAddress,
            haveEqualBytes(left, right, count: digits.count)
        {
            return 0
        }
        return digits.lexicographicallyPrecedes(other.digits) ? -sign : sign
    }

    /// Returns the number as an integer; nil if it has a fraction or does not fit.
    func integer<T: FixedWidthInteger>() -> T? {
        guard point >= digits.count else { return nil }
        var integer: T = 0
        for index in 0..<point {
            let digit = index < digits.count ? T(truncatingIfNeeded: digits[index] & 0xF) : 0
            let (scaled, isLarge) = integer.multipliedReportingOverflow(by: 10)
            let (sum, isLarger) =
                isNegative ? scaled.subtractingReportingOverflow(digit) : scaled.addingReportingOverflow(digit)
            if isLarge || isLarger { return nil }
            integer = sum
        }
        return integer
    }
}
