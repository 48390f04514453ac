import Foundation

extension HTTPResponse {
    /// How long the server asked to wait before the next request: seconds, or a date, which is compared with the server's own `Date`
    /// (RFC 9110, section 10.2.3).
    package var retryAfter: Duration? {
        guard let text = headers["Retry-After"] else { return nil }
        // Absurd values end at 30 years, so that nobody calculates beyond what clocks know.
        if let seconds = Double(text), seconds.isFinite, !text.contains("-") { return .seconds(min(seconds, 1e9)) }
        guard let date = Self.date(text) else { return nil }
        let now = headers["Date"].flatMap(Self.date) ?? Date()
        return .seconds(min(max(date.timeIntervalSince(now), 0), 1e9))
    }

    /// A date as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func date(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        return formatter.date(from: text)
    }
}
