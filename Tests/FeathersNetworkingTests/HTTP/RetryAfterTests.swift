import Foundation
import Testing

@testable import FeathersNetworking

@Suite("Retry-After")
struct RetryAfterTests {
    /// Sunday, 6 November 1994, 08:49:37 UTC.
    private static let moment: Int64 = 784_111_777

    private static func response(_ fields: [String: String]) throws -> HTTPResponse {
        var headers = HTTPHeaders()
        for (name, value) in fields { try headers.set(name, to: value) }
        return HTTPResponse(status: 503, headers: headers, url: try #require(URL(string: "http://localhost")))
    }

    @Test(
        "The three forms of a date are one date",
        arguments: ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"])
    func dates(text: String) {
        #expect(HTTPDate(text)?.secondsSince1970 == Self.moment)
    }

    @Test(
        "What is no date is none",
        arguments: [
            "", "tomorrow", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 PST",
            "Sun, 32 Nov 1994 08:49:37 GMT",
            "Sun, 06 Non 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT", "1994-11-06T08:49:37Z",
            "Sun, 06 Nov 1994 08:4x:37 GMT",
        ])
    func noDates(text: String) {
        #expect(HTTPDate(text) == nil)
    }

    @Test(
        "Seconds and dates are read, anything else is not",
        arguments: [
            ("120", 120), (" 0 ", 0), ("Sun, 06 Nov 1994 08:50:37 GMT", 60), ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
            ("-1", nil),
            ("1.5", nil),
            ("", nil), ("soon", nil), ("99999999999999999999999", 1_000_000_000),
        ] as [(String, Int64?)])
    func values(text: String, seconds: Int64?) throws {
        let now = Date(timeIntervalSince1970: Double(Self.moment) + 0.9)
        #expect(try Self.response(["Retry-After": text]).requestedDelay(at: now) == seconds.map { .seconds($0) })
    }

    @Test("A date is compared with the server's own clock")
    func serverClock() throws {
        let response = try Self.response([
            "Retry-After": "Sun, 06 Nov 1994 08:50:07 GMT", "Date": "Sun, 06 Nov 1994 08:49:37 GMT",
        ])
        #expect(response.requestedDelay() == .seconds(30))
    }

    @Test("Without the field nothing is asked for")
    func none() throws {
        #expect(try Self.response([:]).requestedDelay() == nil)
    }
}
