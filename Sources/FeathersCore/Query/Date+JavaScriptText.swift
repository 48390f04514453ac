package import Foundation

extension Date {
    /// The date as JavaScript's `toISOString` writes it: UTC, always with milliseconds; nil beyond JavaScript's dates.
    ///
    /// Written here rather than with a formatter, whose fraction is cut off instead of rounded: a date read from
    /// `….678Z` must be sent as `….678Z` although its binary fraction lies below.
    package var javaScriptText: String? {
        let milliseconds = (timeIntervalSince1970 * 1000).rounded()
        guard milliseconds.magnitude <= 8.64e15 else { return nil }
        let (day, time) = Self.floorDivision(Int64(milliseconds), by: 86_400_000)
        let (year, month, dayOfMonth) = Self.civilDate(daysSince1970: day)

        var text: [UInt8] = []
        text.reserveCapacity(27)
        if (0...9999).contains(year) {
            Self.append(year, digits: 4, to: &text)
        } else {
            text.append(year < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+"))
            Self.append(abs(year), digits: 6, to: &text)
        }
        text.append(UInt8(ascii: "-"))
        Self.append(month, digits: 2, to: &text)
        text.append(UInt8(ascii: "-"))
        Self.append(dayOfMonth, digits: 2, to: &text)
        text.append(UInt8(ascii: "T"))
        Self.append(time / 3_600_000, digits: 2, to: &text)
        text.append(UInt8(ascii: ":"))
        Self.append(time / 60_000 % 60, digits: 2, to: &text)
        text.append(UInt8(ascii: ":"))
        Self.append(time / 1000 % 60, digits: 2, to: &text)
        text.append(UInt8(ascii: "."))
        Self.append(time % 1000, digits: 3, to: &text)
        text.append(UInt8(ascii: "Z"))
        return String(decoding: text, as: UTF8.self)
    }

    /// Days since 1970 as a date of the Gregorian calendar, counted in eras of 400 years that begin on 1 March.
    private static func civilDate(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = floorDivision(daysSince1970 + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    private static func floorDivision(_ value: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func append(_ value: Int64, digits: Int, to text: inout [UInt8]) {
        var divisor: Int64 = 1
        for _ in 1..<digits { divisor *= 10 }
        while divisor > 0 {
            text.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
            divisor /= 10
        }
    }
}
