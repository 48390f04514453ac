package import Foundation

extension HTTPResponse {
    /// How long the server asks to wait (`Retry-After`, RFC 9110, section 10.2.3); nil where it does not, or says it in no way that HTTP knows.
    ///
    /// A date is compared with the answer's own `Date`, so that our clock need not agree with the server's.
    /// - Parameter now: our time, where the answer has none.
    package func retryAfter(at now: Date = Date()) -> Duration? {
        guard let text = headers["Retry-After"]?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            return .seconds(min(Int64(text) ?? .max, Self.longest))
        }
        guard let date = HTTPDate(text) else { return nil }
        let start = headers["Date"].flatMap { HTTPDate($0)?.secondsSince1970 } ?? Int64(now.timeIntervalSince1970.rounded(.down))
        return .seconds(min(max(date.secondsSince1970 - start, 0), Self.longest))
    }

    /// Absurd values end at 30 years, so that nobody calculates beyond what clocks know.
    private static let longest: Int64 = 1_000_000_000
}
