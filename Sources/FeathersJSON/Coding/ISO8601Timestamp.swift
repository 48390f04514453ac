/// A moment as ECMAScript writes it (ECMA-262, 21.4.1.32), in milliseconds since 1970.
///
/// Written by hand, because every record of a Feathers service carries two dates and a general formatter costs more than the
/// rest of the record.
package struct ISO8601Timestamp: Equatable {
    /// Milliseconds since 1970-01-01T00:00:00Z; a fraction is kept when text has more than three decimals.
    package var milliseconds: Double

    package init(milliseconds: Double) {
        self.milliseconds = milliseconds
    }

    /// The text, or nil outside of the years -271821 to 275760, which is what JavaScript's dates can hold.
    package func text(hasFraction: Bool = true) -> String? {
        guard milliseconds.magnitude <= 8.64e15 else { return nil }
        // Rounded down, as a date with more digits than milliseconds has not yet reached the next one. The smallest step a
        // `Double` of this size can make is far below a thousandth, so that 0.678 s is not read as 677 ms.
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

    /// Days since 1970-01-01 of a date in the proleptic Gregorian calendar (Howard Hinnant, "days_from_civil").
    package static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = divide(shifted, by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The inverse of `daysSince1970` (Howard Hinnant, "civil_from_days").
    private static func civil(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = divide(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    /// Division that rounds down, so that the remainder is never negative.
    private static func divide(_ value: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

/// Writes numbers of a fixed width.
private struct DigitWriter {
    let buffer: UnsafeMutableBufferPointer<UInt8>
    private(set) var count = 0

    init(buffer: UnsafeMutableBufferPointer<UInt8>) {
        self.buffer = buffer
    }

    mutating func write(byte: UInt8) {
        buffer[count] = byte
        count += 1
    }

    mutating func write(_ number: Int64, width: Int) {
        var rest = number
        for position in (count..<(count + width)).reversed() {
            buffer[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count += width
    }

    mutating func write(_ number: Int64, width: Int, after separator: Unicode.Scalar) {
        write(byte: UInt8(ascii: separator))
        write(number, width: width)
    }
}
