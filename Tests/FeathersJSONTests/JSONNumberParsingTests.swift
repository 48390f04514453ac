import FeathersJSON
import FeathersTesting
import Testing

@Suite("Numbers read from JSON")
struct JSONNumberParsingTests {
    @Test(
        "An integer that fits Int64 stays one, to the last digit",
        arguments: [
            ("0", 0), ("-1", -1), ("9007199254740993", 9_007_199_254_740_993),
            ("-9007199254740993", -9_007_199_254_740_993),
            ("9223372036854775807", .max), ("-9223372036854775808", .min),
            ("999999999999999999", 999_999_999_999_999_999),
            ("1000000000000000000", 1_000_000_000_000_000_000),
        ] as [(String, Int64)])
    func keepsIntegers(text: String, expected: Int64) throws {
        guard case .integer(let integer) = try JSONValue(parsing: text) else {
            Issue.record("\(text) is no integer")
            return
        }
        #expect(integer == expected)
    }

    @Test(
        "A number whose digits a Double keeps is the nearest Double",
        arguments: [
            ("10000000000000000000", 1e19), ("99999999999999990000000000", 9.999999999999999e25), ("1.0", 1),
            ("0.1", 0.1), ("-0.1", -0.1),
            ("1e23", 1e23), ("1e22", 1e22), ("1E-22", 1e-22), ("5e-324", .leastNonzeroMagnitude), ("1.10", 1.1),
            ("1.7976931348623157e308", .greatestFiniteMagnitude),
            ("2.225073858507201e-308", .leastNormalMagnitude.nextDown),
            ("0.30000000000000004", 0.30000000000000004), ("0.300000000000000040", 0.30000000000000004),
            ("8.41e21", 8.41e21),
            ("9007199254740994.0", 9_007_199_254_740_994), ("0e999999999999", 0),
            ("0.000000000000000000000000000001", 1e-30),
            ("100000000000000000000000000000000000000000e-41", 1), ("1e0000000000000000000000000000001", 10),
            ("1.0000000000000000000000000000000000000000", 1),
        ] as [(String, Double)])
    func keepsDoubles(text: String, expected: Double) throws {
        guard case .number(let number) = try JSONValue(parsing: text) else {
            Issue.record("\(text) is no number")
            return
        }
        #expect(number.bitPattern == expected.bitPattern)
    }

    @Test(
        "A number with other digits than the nearest Double keeps its text",
        arguments: [
            ("9223372036854775808", 9.223372036854775808e18), ("-9223372036854775809", -9.223372036854775808e18),
            ("18446744073709551615", 1.8446744073709552e19), ("99999999999999999999999999", 1e26), ("2e-324", 0),
            ("3e-324", .leastNonzeroMagnitude), ("1.7976931348623158e308", .greatestFiniteMagnitude),
            ("0.10000000000000000001", 0.1), ("0.10000000000000001", 0.1),
            ("9007199254740991.5", 9_007_199_254_740_992), ("1e-400", 0),
            ("1.00000000000000000000000000000000000000001", 1), ("123456789.123456789e-5", 1234.56789123456789),
            ("1e400", nil),
        ] as [(String, Double?)])
    func keepsText(text: String, nearest: Double?) throws {
        let value = try JSONValue(parsing: text)
        guard case .decimal(let decimal) = value else {
            Issue.record("\(text) is \(value)")
            return
        }
        #expect(decimal.text == text && value.description == text && value.number == nearest && value.integer == nil)
    }

    @Test("An integer that is written with a fraction or an exponent is an integer if no Double keeps it")
    func readsIntegers() throws {
        for text in ["9007199254740993.0", "9.007199254740993e15", "90071992547409930e-1"] {
            guard case .integer(9_007_199_254_740_993) = try JSONValue(parsing: text) else {
                Issue.record("\(text) is no integer")
                continue
            }
        }
    }

    @Test(
        "An exponent of more than nine digits is refused",
        arguments: ["1e1000000000", "-1.5e-1234567890", "1E99999999999999999999"])
    func refusesExponents(text: String) {
        #expect(throws: JSONParsingError(reason: .numberOutOfRange, offset: 0)) { try JSONValue(parsing: text) }
    }

    @Test("Minus zero keeps its sign", arguments: ["-0", "-0.0", "-0e5", "-0.000"])
    func keepsMinusZero(text: String) throws {
        guard case .number(let number) = try JSONValue(parsing: text) else {
            Issue.record("\(text) is no number")
            return
        }
        #expect(number.sign == .minus && number == 0)
    }

    @Test("Very long numbers take no more than their length", arguments: ["1", "0.", "1e"])
    func readsLongNumbers(start: String) throws {
        let text = start + String(repeating: "0", count: 100_000) + "1"
        let value = try JSONValue(parsing: text)
        #expect(value.number == (start == "1" ? nil : start == "0." ? 0 : 10))
        #expect(try value == JSONValue(parsing: start == "1e" ? "10" : text + (start == "1" ? ".0" : "0")))
    }

    @Test("Random numbers are read as Double itself reads them")
    func agreesWithDouble() throws {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<3000 {
            let double = Double(bitPattern: random.next())
            guard double.isFinite else { continue }
            #expect(try JSONValue(parsing: double.description).number?.bitPattern == double.bitPattern)
            let text = "\(random.next() % 1_000_000_000).\(random.next())e\(Int(random.next() % 60) - 30)"
            #expect(try JSONValue(parsing: text).number == Double(text))
        }
    }
}
