import Testing

@testable import FeathersCore

@Suite("The order of two versions")
struct VersionOrderTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let older: JSONValue
        let newer: JSONValue

        var testDescription: String { "\(older), \(newer)" }
    }

    @Test(
        "is that of numbers, moments, digits, and text of one length",
        arguments: [
            Case(older: 9, newer: 10), Case(older: 9.5, newer: 10), Case(older: -1, newer: 0),
            Case(older: 9_007_199_254_740_992, newer: 9_007_199_254_740_993),
            Case(older: "2026-11-26T10:00:00.000Z", newer: "2026-11-26T10:00:00.001Z"),
            Case(older: "2026-11-26T10:00:00.1234567Z", newer: "2026-11-26T10:00:00.1234568Z"),
            Case(older: "2026-11-26T11:00:00+02:00", newer: "2026-11-26T10:00:00+00:00"),
            Case(older: "2026-11-26T12:00:00+02:00", newer: "2026-11-26T10:00:01.000Z"),
            Case(older: "2026-11-26 10:00:00.123456", newer: "2026-11-26 10:00:00.123457"),
            Case(older: "2026-11-26 10:00:00", newer: 1_795_687_201_000),
            Case(older: "2026-11-26", newer: "2026-11-27"), Case(older: "9", newer: "10"),
            Case(older: "0099", newer: "100"), Case(older: "01HB2D", newer: "01HB2E"),
        ])
    func ordered(_ example: Case) throws {
        #expect(try #require(example.older.versionOrder(to: example.newer)) < 0)
        #expect(try #require(example.newer.versionOrder(to: example.older)) > 0)
        #expect(example.older.versionOrder(to: example.older) == 0)
    }

    @Test(
        "is unknown if the values do not tell",
        arguments: [
            Case(older: "v9", newer: "v10"), Case(older: 1, newer: "a"), Case(older: nil, newer: nil),
            Case(older: nil, newer: 1), Case(older: true, newer: false), Case(older: [1], newer: [2]),
            Case(older: "Thursday", newer: "2026-11-26T10:00:00Z"),
            Case(older: "2026-11-26 10:00:00", newer: "2026-11-26T10:00:00.600Z"),
            Case(older: "2026-11-26T10:00:00.600Z", newer: "2026-11-26 10:00:01"),
        ])
    func unordered(_ example: Case) {
        #expect(example.older.versionOrder(to: example.newer) == nil)
        #expect(example.newer.versionOrder(to: example.older) == nil)
    }
}
