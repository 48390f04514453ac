import FeathersCore

/// A date of a header field, in any of the three forms a recipient must accept (RFC 9110, section 5.6.7).
///
///     Sun, 06 Nov 1994 08:49:37 GMT
///     Sunday, 06-Nov-94 08:49:37 GMT
///     Sun Nov  6 08:49:37 1994
struct HTTPDate: Equatable {
    var secondsSince1970: Int64

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Nil where the text is no such date. The day of the week is not checked.
    init?(_ text: String) {
        var parts = text.split { " ,-:".contains($0) }
        guard parts.count >= 7 else { return nil }
        parts.removeFirst()
        if parts[0].first?.isLetter == true {
            // month day hour minute second year: in the order of the other forms.
            guard parts.count == 6 else { return nil }
            parts = [parts[1], parts[0], parts[5], parts[2], parts[3], parts[4], "GMT"]
        }
        guard parts.count == 7, parts[6] == "GMT", let month = Self.months.firstIndex(of: String(parts[1])),
            let day = Self.number(parts[0], in: 1...31), var year = Self.number(parts[2], in: 0...9999),
            let hour = Self.number(parts[3], in: 0...23), let minute = Self.number(parts[4], in: 0...59),
            let second = Self.number(parts[5], in: 0...60)
        else { return nil }
        // Two digits: whoever still writes them means our century.
        if parts[2].utf8.count == 2 { year += year < 70 ? 2000 : 1900 }
        let days = ISO8601Timestamp.daysSince1970(year: year, month: Int64(month) + 1, day: day)
        secondsSince1970 = days * 86_400 + hour * 3600 + minute * 60 + second
    }

    private static func number(_ text: Substring, in range: ClosedRange<Int64>) -> Int64? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return Int64(text).flatMap { range.contains($0) ? $0 : nil }
    }
}
