import FeathersJSON
import FeathersTesting
import Testing

@Suite("JSON text, as JSON.stringify writes it")
struct JSONSerializingTests {
    /// The right column is what Node.js printed for `JSON.stringify(Number(x))`.
    @Test(
        "A number is written as JavaScript writes it",
        arguments: [
            ("0.1", "0.1"), ("1.0", "1"), ("1e21", "1e+21"), ("1e-7", "1e-7"), ("1e-6", "0.000001"),
            ("123456789012345680000", "123456789012345680000"), ("1e20", "100000000000000000000"),
            ("123e-20", "1.23e-18"),
            ("5e-324", "5e-324"), ("1.7976931348623157e308", "1.7976931348623157e+308"), ("0.0000012", "0.0000012"),
            ("1.5e-7", "1.5e-7"),
            ("9007199254740992.0", "9007199254740992"), ("9007199254740994.0", "9007199254740994"),
            ("18014398509481984.0", "18014398509481984"), ("1e16", "10000000000000000"), ("1.2345e22", "1.2345e+22"),
            ("100.5", "100.5"),
            ("-1.5", "-1.5"), ("-1e-7", "-1e-7"), ("-1e21", "-1e+21"), ("0.30000000000000004", "0.30000000000000004"),
            ("123456.789", "123456.789"), ("4.35", "4.35"), ("2.2250738585072014e-308", "2.2250738585072014e-308"),
            ("1e23", "1e+23"),
            ("12345678901234567890.0", "12345678901234567000"), ("0.00001", "0.00001"),
            ("999999999999999900000.0", "999999999999999900000"), ("-0.0", "0"), ("3.0e-5", "0.00003"),
            ("1.234e20", "123400000000000000000"), ("4503599627370497.5", "4503599627370498"),
            ("33333333.333333332", "33333333.333333332"), ("-0.5", "-0.5"), ("1e100", "1e+100"),
            ("-1.25e-100", "-1.25e-100"),
            ("2e0", "2"), ("1.5", "1.5"), ("9007199254740993.0", "9007199254740992"), ("1e22", "1e+22"),
            ("0.1e-5", "0.000001"),
            ("-123456789.125", "-123456789.125"), ("1.7e-10", "1.7e-10"),
        ])
    func writesNumbers(source: String, text: String) throws {
        let number = try #require(Double(source))
        #expect(JSONValue.number(number).description == text)
        #expect(String(decoding: try JSONValue.number(number).serialized(), as: UTF8.self) == text)
    }

    @Test("An integral Double beyond 2^53 is written with JavaScript's digits, and read as the integer they spell")
    func writesLargeIntegralNumbers() throws {
        let number = JSONValue.number(-594_505_494_441_214_720)
        #expect(number.description == "-594505494441214700")
        #expect(try JSONValue(parsing: number.serialized()) == -594_505_494_441_214_700)
        #expect(try JSONValue(parsing: number.serialized()).number == number.number)
    }

    @Test(
        "An integer is written to its last digit",
        arguments: [0, 7, -7, 10, 9_007_199_254_740_993, Int64.max, Int64.min])
    func writesIntegers(integer: Int64) {
        #expect(JSONValue.integer(integer).description == String(integer))
    }

    @Test(
        "A string is escaped where it must be and nowhere else",
        arguments: [
            ("", "\"\""), ("abc", "\"abc\""), ("\"\\/", #""\"\\/""#), ("\u{8}\t\n\u{C}\r", #""\b\t\n\f\r""#),
            ("\u{0}\u{1}\u{B}\u{1F}", #""\u0000\u0001\u000b\u001f""#), ("\u{7F}", "\"\u{7F}\""),
            ("\u{2028}\u{2029}", "\"\u{2028}\u{2029}\""),
            ("é€😀", "\"é€😀\""), ("eight by\ntes and more\"", #""eight by\ntes and more\"""#),
            ("</script>", "\"</script>\""),
        ])
    func escapesStrings(string: String, text: String) throws {
        #expect(JSONValue.string(string).description == text)
        #expect(JSONValue.object([string: .null]).description == "{\(text):null}")
    }

    @Test(
        "Containers are written without spaces, keys in their order",
        arguments: [
            ([], "[]"), ([:], "{}"), ([1, [true, nil], "a"], #"[1,[true,null],"a"]"#),
            (["b": 1, "a": ["c": false]], #"{"b":1,"a":{"c":false}}"#),
            (["2": 1, "1": 2], #"{"2":1,"1":2}"#),
        ] as [(JSONValue, String)])
    func writesContainers(value: JSONValue, text: String) throws {
        #expect(String(decoding: try value.serialized(), as: UTF8.self) == text)
    }

    @Test(
        "NaN and the infinities are refused with their path instead of turned into null",
        arguments: [
            (.number(.nan), "", "NaN"), ([1, .number(.infinity)], "[1]", "Infinity"),
            (["items": [1, ["price": .number(-.infinity)]]], "items[1].price", "-Infinity"),
            (["a b": ["c": .number(.nan)]], "[\"a b\"].c", "NaN"), ([[[.number(.nan)]]], "[0][0][0]", "NaN"),
            (["1a": .number(.nan)], "[\"1a\"]", "NaN"), (["$in": [.number(.nan)]], "$in[0]", "NaN"),
        ] as [(JSONValue, String, String)])
    func refusesNonFinite(value: JSONValue, path: String, number: String) {
        let error = #expect(throws: JSONSerializationError.self) { try value.serialized() }
        #expect(error?.path == path)
        #expect(error?.number == number)
        #expect(error?.description == "JSON cannot represent \(number)\(path.isEmpty ? "" : " (at \(path))")")
    }

    @Test("A refused value leaves the bytes as they were, a good one is appended")
    func appends() throws {
        var bytes: [UInt8] = [1]
        #expect(throws: JSONSerializationError.self) {
            try JSONValue.array([1, .number(.nan)]).serialize(into: &bytes)
        }
        #expect(bytes == [1])
        try JSONValue.array([1]).serialize(into: &bytes)
        #expect(bytes == [1] + Array("[1]".utf8))
    }

    @Test("Descriptions never fail")
    func describesNonFinite() {
        #expect(JSONValue.array([.number(.nan), .number(-.infinity)]).description == "[NaN,-Infinity]")
    }

    @Test("What is written is read back the same", arguments: 0..<20)
    func roundTrips(seed: UInt64) throws {
        var generator = RandomJSON(random: SeededGenerator(seed: seed))
        for _ in 0..<50 {
            let value = generator.value()
            let bytes = try value.serialized()
            let parsed = try JSONValue(parsing: bytes)
            #expect(parsed == value)
            #expect(try parsed.serialized() == bytes)
        }
    }
}
