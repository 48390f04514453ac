/// A date in ECMAScript's format (ECMA-262, 21.4.1.32), in milliseconds since 1970.
///
/// Has its own parser and writer: most Feathers records have two dates, and a general formatter costs more than the
/// rest of the record.
package struct ISO8601Timestamp: Equatable {
    /// Milliseconds since 1970-01-01T00:00:00Z, with a fraction if the text has more than three decimals.
    package var milliseconds: Double

    package init(milliseconds: Double) { self.milliseconds = milliseconds }

    /// Returns the text; nil outside the years -271821 to 275760, the range of JavaScript's dates.
    package func text(hasFraction: Bool = true) -> String? {
        guard milliseconds.magnitude <= 8.64e15 else { return nil }
        // Rounded down, because a date with a fraction of a millisecond has not reached the next millisecond. Adding a
        // thousandth, far more than the error of a `Double` of this size, keeps 0.678 s from becoming 677 ms.
        let total = Int64((milliseconds + 0.001).rounded(.down))
        let (days, inDay) = Self.divide(total, by: 86_400_000)
        let (year, month, day) = Self.civil(daysSince1970: days)
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 27) { buffer in
            var writer = DigitWriter(buffer: buffer)
            if (0...9999).contains(year) {
                writer.write(year, width: 4)
            } else {
                writer.write(byte: UInt8(ascii: year < 0 ? "-" : "+"))
                writer.write(Int64(year.magnitude), width: 6)
            }
            writer.write(month, width: 2, after: "-")
            writer.write(day, width: 2, after: "-")
            writer.write(inDay / 3_600_000, width: 2, after: "T")
            writer.write(inDay / 60_000 % 60, width: 2, after: ":")
            writer.write(inDay / 1000 % 60, width: 2, after: ":")
            if hasFraction { writer.write(inDay % 1000, width: 3, after: ".") }
            writer.write(byte: UInt8(ascii: "Z"))
            return String(decoding: UnsafeBufferPointer(rebasing: buffer[..<writer.count]), as: UTF8.self)
        }
    }

    /// Returns the days from 1970-01-01 to a date in the proleptic Gregorian calendar (Howard Hinnant,
    /// "days_from_civil").
    package static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = divide(shifted, by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Returns the inverse of `daysSince1970` (Howard Hinnant, "civil_from_days").
    private static func civil(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = divide(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    /// Divides and rounds down, so the remainder is never negative.
    private static func divide(_ value: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

private struct DigitWriter {
    let buffer: UnsafeMutableBufferPointer<UInt8>
    var count = 0

    mutating func write(byte: UInt8) {
        buffer[count] = byte
        count += 1
    }

    mutating func write(_ number: Int64, width: Int, after separator: Unicode.Scalar? = nil) {
        if let separator { write(byte: UInt8(ascii: separator)) }
        var rest = number
        for position in (count..<(count + width)).reversed() {
            buffer[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count += width
    }
}

extension ISO8601Timestamp {
    /// Parses `2024-01-02T03:04:05.678Z`. The fraction may be missing or longer, and the offset may be `+02:00`,
    /// `+0200`, or `+02`. A date without a time is midnight UTC, as in JavaScript.
    package init?(_ text: String) {
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
    var position = 0

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
            // A leap second counts as the first second of the next minute.
            guard let read = readNumber(width: 2, in: 0...60), let readFraction = readFraction() else { return nil }
            (second, fraction) = (read, readFraction)
        }
        // 24:00:00 is the end of the day; later times are invalid.
        guard hour < 24 || (minute == 0 && second == 0 && fraction == 0) else { return nil }
        guard let offset = readOffset(), position == bytes.count else { return nil }
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
        return Double(seconds * 1000) + fraction
    }

    /// Reads four digits, or a sign and six, as in ECMAScript. `-000000` is invalid.
    private mutating func readYear() -> Int64? {
        if skip("+") { return readNumber(width: 6, in: 0...275_760) }
        if skip("-") { return readNumber(width: 6, in: 1...271_821).map { -$0 } }
        return readNumber(width: 4, in: 0...9999)
    }

    /// Reads the milliseconds after the full second.
    private mutating func readFraction() -> Double? {
        guard skip(".") || skip(",") else { return 0 }
        let first = position
        var digits = 0.0
        while position < bytes.count, let digit = digit(at: position) {
            // Digits after the fifteenth are beyond a date's precision.
            if position - first < 15 { digits = digits * 10 + Double(digit) }
            position += 1
        }
        guard position > first else { return nil }
        let count = min(position - first, 15)
        // Rounding only once keeps .678 at exactly 678.
        return count <= 3 ? digits * Self.powerOfTen(3 - count) : digits / Self.powerOfTen(count - 3)
    }

    /// Reads the offset in seconds east of Greenwich.
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

    // Inlined, so that the loop is unrolled for each width.
    @inline(__always)
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

    private static func powerOfTen(_ exponent: Int) -> Double { (0..<exponent).reduce(1) { power, _ in power * 10 } }
}
