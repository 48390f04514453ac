import FeathersJSON
import FeathersTesting
import Testing

@Suite("What the JSON parser accepts")
struct JSONParserAcceptanceTests {
    @Test(
        "A text of RFC 8259 gives its value",
        arguments: [
            ("null", .null), ("true", true), ("false", false), ("0", 0), ("-1", -1), ("42", 42), ("\"\"", ""),
            ("[]", []), ("{}", [:]),
            (" \t\r\n1 \t\r\n", 1), ("[1,2]", [1, 2]), ("[ 1 , 2 ]", [1, 2]), ("[[],[[]]]", [[], [[]]]),
            ("[null]", [nil]),
            (#"{"a":1,"b":{"c":[true]}}"#, ["a": 1, "b": ["c": [true]]]),
            (#"{ "a" : 1 , "b" : 2 }"#, ["a": 1, "b": 2]),
            (#"{"":0}"#, ["": 0]), (#"{"a\"b":1}"#, ["a\"b": 1]), (#"{"\u0061":1}"#, ["a": 1]),
            (#"[{},{"a":[]},[]]"#, [[:], ["a": []], []]),
            ("[1e2]", [100]), ("[1E+2]", [100]), ("[1e-2]", [0.01]), ("[0.5]", [0.5]), ("[-0.5]", [-0.5]),
            ("[0e1]", [0]),
            ("[1.0]", [1]), ("[123.456e78]", [1.23456e80]), ("\"\u{7F}\"", "\u{7F}"),
            ("\"\u{2028}\u{2029}\"", "\u{2028}\u{2029}"),
            ("\"€😀é\"", "€😀é"), ("\"\u{FEFF}\"", "\u{FEFF}"), ("\"\u{FFFF}\u{10FFFF}\"", "\u{FFFF}\u{10FFFF}"),
        ] as [(String, JSONValue)])
    func accepts(text: String, value: JSONValue) throws {
        #expect(try JSONValue(parsing: text) == value)
        #expect(try JSONValue(parsing: Array(text.utf8)) == value)
    }

    @Test(
        "Escapes mean what JSON.parse makes of them",
        arguments: [
            (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u0000""#, "\0"), (#""\u00e9\u00E9""#, "éé"),
            (#""\u20AC""#, "€"),
            (#""\ud83d\ude00""#, "😀"), (#""\uDBFF\uDFFF""#, "\u{10FFFF}"),
            (#""plain \u0041 then é""#, "plain A then é"),
            (#""é then \n""#, "é then \n"), (#""\u2028""#, "\u{2028}"),
            (
                #""long enough to be scanned by words \t and on it goes\\""#,
                "long enough to be scanned by words \t and on it goes\\"
            ),
        ])
    func unescapes(text: String, expected: String) throws {
        #expect(try JSONValue(parsing: text).string == expected)
    }

    @Test(
        "Half of a surrogate pair becomes U+FFFD, since a Swift string cannot hold it",
        arguments: [
            (#""\ud83d""#, "\u{FFFD}"), (#""\ude00""#, "\u{FFFD}"), (#""\ude00\ud83d""#, "\u{FFFD}\u{FFFD}"),
            (#""\ud83dx""#, "\u{FFFD}x"),
            (#""\ud83d\n""#, "\u{FFFD}\n"), (#""\ud83d\u0041""#, "\u{FFFD}A"), (#""\ud83d\ud83d\ude00""#, "\u{FFFD}😀"),
        ])
    func replacesLoneSurrogates(text: String, expected: String) throws {
        #expect(try JSONValue(parsing: text).string == expected)
    }

    @Test("Every length of string around the word size is read to its end", arguments: 0...40)
    func readsStringsOfAnyLength(length: Int) throws {
        for character in ["a", "é", "\u{10000}"] {
            for tail in ["", "\\n", "\\\\", "\\\""] {
                let plain = String(repeating: character, count: length)
                let unescaped = ["": "", "\\n": "\n", "\\\\": "\\", "\\\"": "\""][tail] ?? ""
                #expect(try JSONValue(parsing: "\"\(plain)\(tail)\"") == .string(plain + unescaped))
                #expect(try JSONValue(parsing: "{\"\(plain)\(tail)\":1}") == .object([plain + unescaped: 1]))
            }
        }
    }

    @Test("Strings that repeat, in any order and of any length, are what was written", arguments: [1, 10, 700, 5_000])
    func repeatsStrings(different: Int) throws {
        var random = SeededGenerator(seed: UInt64(different))
        let pool = (0..<different).map { "\(String(repeating: $0 % 7 == 0 ? "é" : "s", count: $0 % 80)) number \($0)" }
        let strings = (0..<20_000).map { _ in pool[Int.random(in: pool.indices, using: &random)] }
        let written = strings.enumerated().map { $0 % 50 == 0 ? "\"\\n\($1)\"" : "\"\($1)\"" }
        let parsed = try JSONValue(parsing: "[\(written.joined(separator: ","))]")
        #expect(parsed.array?.map(\.string) == strings.enumerated().map { $0 % 50 == 0 ? "\n\($1)" : $1 })
    }

    @Test("Of a repeated key the last value wins, at the place of the first", arguments: [3, 20, 100])
    func mergesRepeatedKeys(count: Int) throws {
        let keys = (0..<count).map { "key number \($0)" }
        let members = (keys + ["key number 1"]).enumerated().map { "\"\($1)\":\($0)" }
        let object = try #require(try JSONValue(parsing: "{\(members.joined(separator: ","))}").object)
        #expect(object.keys == keys)
        #expect(object["key number 1"] == .integer(Int64(count)))
        #expect(object["key number 0"] == 0)
    }

    @Test("Keys that Swift calls equal but JavaScript does not both survive")
    func keepsCanonicallyEquivalentKeys() throws {
        let object = try #require(try JSONValue(parsing: "{\"\u{E9}\":1,\"e\u{301}\":2}").object)
        #expect(object.count == 2)
        #expect(object["\u{E9}"] == 1)
        #expect(object["e\u{301}"] == 2)
    }

    @Test("Any collection of bytes can be parsed")
    func readsAnyCollection() throws {
        let bytes = Array("xx[1,2]xx".utf8)
        #expect(try JSONValue(parsing: bytes[2..<7]) == [1, 2])
        #expect(try JSONValue(parsing: bytes[2..<7].lazy.map { $0 }) == [1, 2])
        #expect(try bytes[2..<7].withUnsafeBytes { try JSONValue(parsing: $0) } == [1, 2])
    }
}
