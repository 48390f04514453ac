extension ISO8601Timestamp {
    /// Reads `2024-01-02T03:04:05.678Z`; the fraction may be missing or longer, the offset may be `+02:00`, `+0200` or `+02`,
    /// and the date may stand alone, which JavaScript too takes for midnight in UTC.
    init?(_ text: String) {
        var text = text
        let milliseconds = text.withUTF8 { bytes -> Double? in
            var reader = TimestampReader(bytes: bytes)
            return reader.read()
        }
        guard let milliseconds else { return nil }
        self.milliseconds = milliseconds
    }
}

private struct TimestampReader {
    let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    init(bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    mutating func read() -> Double? {
        guard let year = readYear(), skip("-"), let month = readNumber(width: 2, in: 1...12), skip("-"),
            let day = readNumber(width: 2, in: 1...Self.length(ofMonth: month, year: year))
        else { return nil }
        let days = ISO8601Timestamp.daysSince1970(year: year, month: month, day: day)
        if position == bytes.count { return Double(days * 86_400_000) }

        guard skip("T") || skip("t") || skip(" "), let hour = readNumber(width: 2, in: 0...24), skip(":"),
            let minute = readNumber(width: 2, in: 0...59)
        else { return nil }
        var second: Int64 = 0
        var fraction = 0.0
        if skip(":") {
            // A leap second is counted as the first of the next minute, as every clock without them does.
            guard let read = readNumber(width: 2, in: 0...60), let readFraction = readFraction() else { return nil }
            (second, fraction) = (read, readFraction)
        }
        // 24:00:00 is the end of the day, and nothing comes after it.
        guard hour < 24 || (minute == 0 && second == 0 && fraction == 0) else { return nil }
        guard let offset = readOffset(), position == bytes.count else { return nil }
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
        return Double(seconds * 1000) + fraction
    }

    /// Four digits, or a sign and six, as ECMAScript extends them; `-000000` is no year.
    private mutating func readYear() -> Int64? {
        if skip("+") { return readNumber(width: 6, in: 0...275_760) }
        if skip("-") { return readNumber(width: 6, in: 1...271_821).map { -$0 } }
        return readNumber(width: 4, in: 0...9999)
    }

    /// Milliseconds after the full second.
    private mutating func readFraction() -> Double? {
        guard skip(".") || skip(",") else { return 0 }
        let first = position
        var digits = 0.0
        while position < bytes.count, let digit = digit(at: position) {
            // More than fifteen digits are below what a date can tell apart.
            if position - first < 15 { digits = digits * 10 + Double(digit) }
            position += 1
        }
        guard position > first else { return nil }
        let count = min(position - first, 15)
        // A single rounding keeps .678 exactly 678.
        return count <= 3 ? digits * Self.powerOfTen(3 - count) : digits / Self.powerOfTen(count - 3)
    }

    /// Seconds east of Greenwich.
    private mutating func readOffset() -> Int64? {
        if skip("Z") || skip("z") { return 0 }
        let isEast = skip("+")
        guard isEast || skip("-"), let hours = readNumber(width: 2, in: 0...23) else { return nil }
        var minutes: Int64 = 0
        if position < bytes.count {
            _ = skip(":")
            guard let read = readNumber(width: 2, in: 0...59) else { return nil }
            minutes = read
        }
        let offset = hours * 3600 + minutes * 60
        return isEast ? offset : -offset
    }

    private mutating func readNumber(width: Int, in range: ClosedRange<Int64>) -> Int64? {
        guard position + width <= bytes.count else { return nil }
        var number: Int64 = 0
        for index in position..<(position + width) {
            guard let digit = digit(at: index) else { return nil }
            number = number * 10 + Int64(digit)
        }
        position += width
        return range.contains(number) ? number : nil
    }

    private mutating func skip(_ expected: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: expected) else { return false }
        position += 1
        return true
    }

    private func digit(at index: Int) -> UInt8? {
        let digit = bytes[index] &- UInt8(ascii: "0")
        return digit <= 9 ? digit : nil
    }

    private static func length(ofMonth month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func powerOfTen(_ exponent: Int) -> Double {
        (0..<exponent).reduce(1) { power, _ in power * 10 }
    }
}
