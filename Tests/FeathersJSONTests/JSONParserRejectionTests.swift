import FeathersJSON
import Testing

@Suite("What the JSON parser rejects")
struct JSONParserRejectionTests {
    @Test(
        "A text that is no JSON is refused with the reason and the byte offset",
        arguments: [
            ("", .unexpectedEnd, 0), ("   ", .unexpectedEnd, 3), ("[", .unexpectedEnd, 1), ("{", .unexpectedEnd, 1),
            ("[1", .unexpectedEnd, 2),
            ("[1,", .unexpectedEnd, 3), ("{\"a\"", .unexpectedEnd, 4), ("{\"a\":", .unexpectedEnd, 5),
            ("{\"a\":1", .unexpectedEnd, 6),
            ("{\"a\":1,", .unexpectedEnd, 7), ("\"", .unexpectedEnd, 1), ("\"abc", .unexpectedEnd, 4),
            ("\"\\", .unexpectedEnd, 2),
            ("\"\\u", .unexpectedEnd, 3), ("\"\\u12", .unexpectedEnd, 5), ("\"\\\"", .unexpectedEnd, 3),
            ("-", .unexpectedEnd, 1),
            ("1.", .unexpectedEnd, 2), ("1e", .unexpectedEnd, 2), ("1e+", .unexpectedEnd, 3),
            ("tru", .unexpectedEnd, 3),
            ("n", .unexpectedEnd, 1),
            ("[1,]", .unexpectedByte(0x5D), 3), ("[,1]", .unexpectedByte(0x2C), 1), ("[1 2]", .unexpectedByte(0x32), 3),
            ("[1}", .unexpectedByte(0x7D), 2), ("{]", .unexpectedByte(0x5D), 1),
            ("{\"a\":1]", .unexpectedByte(0x5D), 6),
            ("{\"a\":1,}", .unexpectedByte(0x7D), 7), ("{a:1}", .unexpectedByte(0x61), 1),
            ("{1:1}", .unexpectedByte(0x31), 1),
            ("{\"a\" 1}", .unexpectedByte(0x31), 5), ("{\"a\"::1}", .unexpectedByte(0x3A), 5),
            ("{,}", .unexpectedByte(0x2C), 1),
            ("NaN", .unexpectedByte(0x4E), 0), ("nan", .unexpectedByte(0x61), 1),
            ("Infinity", .unexpectedByte(0x49), 0),
            ("-Infinity", .unexpectedByte(0x49), 1), ("+1", .unexpectedByte(0x2B), 0), (".5", .unexpectedByte(0x2E), 0),
            ("-.5", .unexpectedByte(0x2E), 1), ("1.e1", .unexpectedByte(0x65), 2), ("1.x", .unexpectedByte(0x78), 2),
            ("-a", .unexpectedByte(0x61), 1),
            ("1ee1", .unexpectedByte(0x65), 2), ("1e1.5", .trailingBytes, 3), ("0x10", .trailingBytes, 1),
            ("1_000", .trailingBytes, 1),
            ("01", .leadingZero, 0), ("-01", .leadingZero, 1), ("[00]", .leadingZero, 1), ("-00.5", .leadingZero, 1),
            ("True", .unexpectedByte(0x54), 0), ("trUe", .unexpectedByte(0x55), 2), ("nullx", .trailingBytes, 4),
            ("1 2", .trailingBytes, 2),
            ("[] []", .trailingBytes, 3), ("{}}", .trailingBytes, 2), ("'a'", .unexpectedByte(0x27), 0),
            ("// a\n1", .unexpectedByte(0x2F), 0),
            ("[1/**/]", .unexpectedByte(0x2F), 2), ("]", .unexpectedByte(0x5D), 0),
            ("\u{B}1", .unexpectedByte(0x0B), 0),
            ("[\u{0}]", .unexpectedByte(0), 1), ("\u{FEFF}1", .unexpectedByte(0xEF), 0),
            ("\u{A0}1", .unexpectedByte(0xC2), 0),
            ("1\u{2028}", .trailingBytes, 1), ("\"a\nb\"", .controlCharacter(0x0A), 2),
            ("\"\u{0}\"", .controlCharacter(0), 1),
            ("\"0123456789\u{1F}\"", .controlCharacter(0x1F), 11), ("\"\t\"", .controlCharacter(0x09), 1),
            ("\"\\x\"", .invalidEscape, 1),
            ("\"ab\\'\"", .invalidEscape, 3), ("\"\\u12G4\"", .invalidEscape, 1), ("\"\\U0041\"", .invalidEscape, 1),
            ("\"\\ud83d\\u12\"", .invalidEscape, 7), ("\"\\u 041\"", .invalidEscape, 1),
            ("\"\\\u{0}\"", .invalidEscape, 1),
            ("[-1e1000000000]", .numberOutOfRange, 1), ("[1,1e999999999999]", .numberOutOfRange, 3),
        ] as [(String, JSONParsingError.Reason, Int)])
    func rejects(text: String, reason: JSONParsingError.Reason, offset: Int) {
        #expect(throws: JSONParsingError(reason: reason, offset: offset)) { try JSONValue(parsing: text) }
        #expect(throws: JSONParsingError(reason: reason, offset: offset)) { try JSONValue(parsing: Array(text.utf8)) }
    }

    @Test(
        "A string that is not UTF-8 is refused where the ill-formed sequence begins",
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
            [0xE2, 0x82],
            [0xE2, 0x28, 0xA1], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80],
            [0xF0, 0x8F, 0xBF, 0xBF],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xF0, 0x9F, 0x98], [0xF0, 0x9F, 0x28, 0x80], [0xFE],
            [0xFF],
        ] as [[UInt8]])
    func rejectsInvalidUTF8(sequence: [UInt8]) {
        for prefix in ["", "a", "é", "fifteen bytes..", "more than sixteen bytes, é and \u{1F600}"] {
            let expected = JSONParsingError(reason: .invalidUTF8, offset: 1 + prefix.utf8.count)
            let text = [UInt8(ascii: "\"")] + Array(prefix.utf8) + sequence
            #expect(throws: expected) { try JSONValue(parsing: text + Array("\"".utf8)) }
            #expect(throws: expected) { try JSONValue(parsing: text + Array("tail\\n\"".utf8)) }
            let key = JSONParsingError(reason: .invalidUTF8, offset: 2 + prefix.utf8.count)
            #expect(throws: key) { try JSONValue(parsing: [UInt8(ascii: "{")] + text + Array("\":1}".utf8)) }
        }
    }

    @Test("Bytes that are not UTF-8 are refused outside of strings, too")
    func rejectsOtherEncodings() {
        #expect(throws: JSONParsingError(reason: .unexpectedByte(0xFF), offset: 0)) {
            try JSONValue(parsing: [0xFF, 0xFE, 0x31, 0x00])
        }
        #expect(throws: JSONParsingError(reason: .trailingBytes, offset: 1)) { try JSONValue(parsing: [0x31, 0x00]) }
    }

    @Test("Nesting is refused beyond the limit", arguments: [1, 2, 16, 512, 1024])
    func boundsDepth(limit: Int) throws {
        for (open, middle, close) in [("[", "", "]"), ("{\"a\":", "1", "}")] {
            let atLimit = String(repeating: open, count: limit) + middle + String(repeating: close, count: limit)
            _ = try JSONValue(parsing: atLimit, maximumDepth: limit)
            let beyond = JSONParsingError(reason: .nestedTooDeeply(limit: limit), offset: limit * open.utf8.count)
            #expect(throws: beyond) {
                try JSONValue(parsing: String(repeating: open, count: limit + 1), maximumDepth: limit)
            }
        }
        // What was closed no longer counts.
        _ = try JSONValue(parsing: "[" + String(repeating: "[],", count: 2000) + "0]", maximumDepth: 2)
    }

    @Test("The limit is 512 unless told otherwise, and never above 1024")
    func limitsTheLimit() {
        let deep = String(repeating: "[", count: 1_000_000)
        #expect(throws: JSONParsingError(reason: .nestedTooDeeply(limit: 512), offset: 512)) {
            try JSONValue(parsing: deep)
        }
        #expect(throws: JSONParsingError(reason: .nestedTooDeeply(limit: 1024), offset: 1024)) {
            try JSONValue(parsing: deep, maximumDepth: .max)
        }
        #expect(throws: JSONParsingError(reason: .nestedTooDeeply(limit: 0), offset: 0)) {
            try JSONValue(parsing: "[]", maximumDepth: -1)
        }
    }

    @Test("An error names its offset and shows nothing of the text")
    func describesErrors() {
        let error = #expect(throws: JSONParsingError.self) { try JSONValue(parsing: "{\"token\":\"secret\" \"") }
        #expect(error?.description == "Invalid JSON at byte 18: unexpected byte 0x22")
    }
}
