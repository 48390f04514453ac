import Testing

@testable import FeathersJSON

@Suite("Moments in ISO 8601")
struct ISO8601TimestampTests {
    /// The right column is what Node.js printed for `new Date(x).toJSON()`.
    @Test(
        "A moment is written as JavaScript's toJSON writes it, and read back",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (1, "1970-01-01T00:00:00.001Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (1_704_164_645_678, "2024-01-02T03:04:05.678Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (253_402_300_800_000, "+010000-01-01T00:00:00.000Z"),
            (8_640_000_000_000_000, "+275760-09-13T00:00:00.000Z"),
            (-8_640_000_000_000_000, "-271821-04-20T00:00:00.000Z"),
            (-62_198_755_200_000, "-000001-01-01T00:00:00.000Z"),
            (951_868_799_999, "2000-02-29T23:59:59.999Z"), (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (-86_400_000, "1969-12-31T00:00:00.000Z"),
        ] as [(Double, String)])
    func writes(milliseconds: Double, text: String) {
        #expect(ISO8601Timestamp(milliseconds: milliseconds).text() == text)
        #expect(ISO8601Timestamp(text)?.milliseconds == milliseconds)
    }

    @Test(
        "Other forms of the same standard are read",
        arguments: [
            ("2024-01-02T03:04:05Z", 1_704_164_645_000), ("2024-01-02T03:04Z", 1_704_164_640_000),
            ("2024-01-02", 1_704_153_600_000),
            ("2024-01-02T03:04:05.6Z", 1_704_164_645_600), ("2024-01-02T03:04:05.67Z", 1_704_164_645_670),
            ("2024-01-02T03:04:05.678901Z", 1_704_164_645_678.901),
            ("2024-01-02T05:04:05.678+02:00", 1_704_164_645_678),
            ("2024-01-01T21:34:05-0530", 1_704_164_645_000), ("2024-01-02T04:04:05+01", 1_704_164_645_000),
            ("2024-01-02 03:04:05Z", 1_704_164_645_000), ("2024-01-02t03:04:05z", 1_704_164_645_000),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000), ("2023-12-31T24:00:00Z", 1_704_067_200_000),
            ("2024-01-02T03:04:05.00000000000000000000001Z", 1_704_164_645_000),
        ] as [(String, Double)])
    func reads(text: String, milliseconds: Double) {
        #expect(ISO8601Timestamp(text)?.milliseconds == milliseconds)
    }

    @Test(
        "What is no moment is refused",
        arguments: [
            "", "2024", "2024-1-2", "2024-13-01", "2024-00-01", "2024-01-32", "2023-02-29", "1900-02-29", "2024-04-31",
            "2024-01-02T",
            "2024-01-02T03", "2024-01-02T25:00Z", "2024-01-02T24:00:01Z", "2024-01-02T03:60Z", "2024-01-02T03:04:61Z",
            "2024-01-02T03:04:05",
            "2024-01-02T03:04:05.Z", "2024-01-02T03:04:05+", "2024-01-02T03:04:05+24:00", "2024-01-02T03:04:05+02:",
            "2024-01-02T03:04:05Zx",
            " 2024-01-02", "2024-01-02T03:04:05 Z", "-000000-01-01", "20240102T030405Z", "today", "２０２４-01-02",
        ])
    func refuses(text: String) {
        #expect(ISO8601Timestamp(text) == nil)
    }

    @Test("Beyond JavaScript's dates there is no text", arguments: [8.64e15 + 1, -8.64e15 - 1, .nan, .infinity])
    func endsWhereJavaScriptEnds(milliseconds: Double) {
        #expect(ISO8601Timestamp(milliseconds: milliseconds).text() == nil)
    }

    @Test("Every day of four centuries is its own text")
    func countsDays() {
        for day in -150_000..<20_000 where day % 7 == 0 {
            let milliseconds = Double(day) * 86_400_000 + 43_200_123
            #expect(
                ISO8601Timestamp(milliseconds: milliseconds).text().flatMap(ISO8601Timestamp.init)?.milliseconds
                    == milliseconds)
        }
    }
}
