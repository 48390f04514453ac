public import Foundation

/// A complete HTTP response.
public struct HTTPResponse: Sendable {
    /// The status code, such as 404.
    public var status: Int
    /// The header fields. Their order, and the handling of repeated fields, depend on the implementation.
    public var headers: HTTPHeaders
    /// The body after decompression, or an empty array if there was none.
    public var body: [UInt8]
    /// The URL of this response. It differs from the request's URL after redirects.
    public var url: URL
    /// Whether the request reached this server without the fields that may identify its sender, because of a redirect.
    package var hasLostFields = false

    /// Creates a response, for your own clients and for tests.
    public init(status: Int, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = [], url: URL) {
        self.status = status
        self.headers = headers
        self.body = body
        self.url = url
    }

    /// Whether the status is between 200 and 299.
    public var isSuccess: Bool { (200..<300).contains(status) }

    /// Returns how long the server asks to wait (`Retry-After`, RFC 9110, section 10.2.3), or nil if the field is
    /// missing or malformed. A date is compared with the response's own `Date`, so the local clock need not agree with
    /// the server's.
    /// - Parameter now: The local time, used if the response has no `Date`.
    package func requestedDelay(at now: Date = Date()) -> Duration? {
        guard let text = headers["Retry-After"]?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            return .seconds(min(Int64(text) ?? .max, Self.longest))
        }
        guard let date = HTTPDate(text) else { return nil }
        let start =
            headers["Date"].flatMap { HTTPDate($0)?.secondsSince1970 }
            ?? Int64(now.timeIntervalSince1970.rounded(.down))
        return .seconds(min(max(date.secondsSince1970 - start, 0), Self.longest))
    }

    /// The maximum, about 30 years, which clocks can still represent. Larger values are capped.
    private static let longest: Int64 = 1_000_000_000
}

/// A date in a header field, in any of the three formats that a recipient must accept (RFC 9110, section 5.6.7).
///
///     Sun, 06 Nov 1994 08:49:37 GMT
///     Sunday, 06-Nov-94 08:49:37 GMT
///     Sun Nov  6 08:49:37 1994
package struct HTTPDate: Equatable {
    package var secondsSince1970: Int64

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Returns nil if the text isn't such a date. The day of the week isn't checked.
    package init?(_ text: String) {
        var words = text.split { " ,-:".contains($0) }
        guard words.count >= 7 else { return nil }
        words.removeFirst()
        if words[0].first?.isLetter == true {
            // Reorders month, day, hour, minute, second, year to match the other formats.
            guard words.count == 6 else { return nil }
            words = [words[1], words[0], words[5], words[2], words[3], words[4], "GMT"]
        }
        guard words.count == 7, words[6] == "GMT", let month = Self.months.firstIndex(of: String(words[1])),
            let day = Self.number(words[0], in: 1...31), var year = Self.number(words[2], in: 0...9999),
            let hour = Self.number(words[3], in: 0...23), let minute = Self.number(words[4], in: 0...59),
            let second = Self.number(words[5], in: 0...60)
        else { return nil }
        // Two-digit years range from 1970 to 2069.
        if words[2].utf8.count == 2 { year += year < 70 ? 2000 : 1900 }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(year - 1900), Int32(month), Int32(day))
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (Int32(hour), Int32(minute), Int32(second))
        secondsSince1970 = Int64(timegm(&parts))
    }

    private static func number(_ text: Substring, in range: ClosedRange<Int64>) -> Int64? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return Int64(text).flatMap { range.contains($0) ? $0 : nil }
    }
}
