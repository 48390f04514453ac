import FeathersJSON
import Foundation
import Testing

@Suite("Decoding models from JSONValue")
struct JSONValueDecoderTests {
    @Test("A model comes back as it was encoded")
    func roundTrips() throws {
        #expect(try JSONValueDecoder().decode(Scalars.self, from: JSONValueEncoder().encode(Scalars())) == Scalars())
        #expect(try JSONValueDecoder().decode(Nested.self, from: JSONValueEncoder().encode(Nested())) == Nested())
        #expect(
            try JSONValueDecoder().decode([Scalars].self, from: JSONValueEncoder().encode([Scalars()])) == [Scalars()])
        let dog = Dog()
        dog.name = "Bello"
        dog.legs = 3
        let copy = try JSONValueDecoder().decode(Dog.self, from: JSONValueEncoder().encode(dog))
        #expect(copy.name == "Bello")
        #expect(copy.legs == 3)
    }

    /// An error as a short text: its case, its type or key, and its coding path.
    private static func outcome<T>(_ decode: () throws -> T) -> String {
        func path(_ context: DecodingError.Context) -> String {
            context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
        }
        do {
            return "\(try decode())"
        } catch DecodingError.typeMismatch(_, let context) {
            return "typeMismatch at \(path(context))"
        } catch DecodingError.valueNotFound(_, let context) {
            return "valueNotFound at \(path(context))"
        } catch DecodingError.keyNotFound(let key, let context) {
            return "keyNotFound \(key.stringValue) at \(path(context))"
        } catch DecodingError.dataCorrupted(let context) {
            return "dataCorrupted at \(path(context))"
        } catch {
            return "\(error)"
        }
    }

    private struct Probe: Codable {
        struct Inner: Codable {
            var count: UInt8
            var name: String?
        }

        var inner: Inner?
        var list: [Inner]?
        var byName: [String: [Double]]?
        var flag: Bool?
        var url: URL?
        var uuid: UUID?
        var data: Data?
        var color: Nested.Color?
        var float: Float?
        var choice: Nested.Choice?
        var int: Int?
        var matrix: [[Int]]?
    }

    @Test(
        "A text gives the same model, or the same error at the same coding path, as JSONDecoder",
        arguments: [
            #"{}"#, #"[]"#, #"null"#, #"1"#, #"{"inner":null}"#, #"{"inner":{}}"#, #"{"inner":{"count":1}}"#,
            #"{"inner":{"count":1.0}}"#, #"{"inner":{"count":1e2}}"#,
            #"{"inner":{"count":null}}"#, #"{"inner":{"count":"1"}}"#, #"{"inner":{"count":true}}"#,
            #"{"inner":{"count":1,"name":2}}"#,
            #"{"inner":[]}"#, #"{"list":[{"count":1},{"count":2,"name":"x"}]}"#, #"{"list":[{"count":1},{}]}"#,
            #"{"list":[{"count":1},null]}"#, #"{"list":{}}"#, #"{"byName":{"a":[1,2.5]}}"#,
            #"{"byName":{"a":[1,"x"]}}"#, #"{"byName":{"a":1}}"#, #"{"byName":[]}"#, #"{"flag":true}"#, #"{"flag":1}"#,
            #"{"flag":"true"}"#,
            #"{"url":"https://example.com"}"#, #"{"url":1}"#, #"{"uuid":"01020304-0506-0708-090A-0B0C0D0E0F10"}"#,
            #"{"uuid":"x"}"#,
            #"{"data":"AAEC"}"#, #"{"data":"?"}"#, #"{"data":[]}"#, #"{"color":"red"}"#, #"{"color":"blue"}"#,
            #"{"color":1}"#,
            #"{"float":0.1}"#, #"{"float":"1"}"#, #"{"choice":{"one":{"_0":1}}}"#, #"{"choice":{"none":{}}}"#,
            #"{"choice":{}}"#, #"{"choice":{"two":{"a":"x"}}}"#, #"{"choice":{"other":{}}}"#,
            #"{"int":9223372036854775807}"#,
            #"{"int":9007199254740993}"#, #"{"int":-0}"#, #"{"matrix":[[1],[2,"x"]]}"#, #"{"matrix":[[1],null]}"#,
        ])
    func agreesWithFoundation(text: String) {
        let theirs = Self.outcome { try JSONDecoder().decode(Probe.self, from: Data(text.utf8)) }
        let ours = Self.outcome { try JSONValueDecoder().decode(Probe.self, from: JSONValue(parsing: text)) }
        #expect(ours == theirs)
    }

    /// JSONDecoder says the same of these, without the way to the number.
    @Test(
        "A number that does not fit is refused with the way to it",
        arguments: [
            (#"{"inner":{"count":256}}"#, "inner.count"), (#"{"inner":{"count":-1}}"#, "inner.count"),
            (#"{"inner":{"count":1.5}}"#, "inner.count"), (#"{"list":[{"count":1},{"count":999}]}"#, "list.1.count"),
            (#"{"float":1e300}"#, "float"), (#"{"int":9223372036854775808}"#, "int"),
        ])
    func refusesNumbersThatDoNotFit(text: String, path: String) {
        #expect(
            Self.outcome { try JSONValueDecoder().decode(Probe.self, from: JSONValue(parsing: text)) }
                == "dataCorrupted at \(path)")
    }

    @Test("Containers used by hand fail as JSONDecoder's do, whichever value is wrong")
    func agreesOnDamagedModels() throws {
        let good = try JSONValueEncoder().encode(Dog())
        for replacement in [
            nil, 1, "x", [], [:], [1], [1, []], [1, ["x"]], [1, ["x"], ["b": true]], [1, ["x"], ["b": true], nil],
        ]
            as [JSONValue]
        {
            for key in ["name", "nested", "list", "super"] {
                for isRemoved in [false, true] {
                    var damaged = good
                    damaged[key] = isRemoved ? .none : .some(replacement)
                    let bytes = Data(try damaged.serialized())
                    let theirs = Self.outcome { try JSONDecoder().decode(Dog.self, from: bytes).name }
                    let ours = Self.outcome { try JSONValueDecoder().decode(Dog.self, from: damaged).name }
                    #expect(ours == theirs, "\(damaged)")
                }
            }
        }
    }

    @Test("A number is read by every type that can hold it")
    func readsLargeNumbers() throws {
        let value = try JSONValue(parsing: "[9223372036854775809]")
        #expect(try JSONValueDecoder().decode([UInt64].self, from: value) == [9_223_372_036_854_775_809])
        #expect(try JSONValueDecoder().decode([Int128].self, from: value) == [9_223_372_036_854_775_809])
        #expect(try JSONValueDecoder().decode([Double].self, from: value) == [9.223372036854775808e18])
        #expect(try JSONValueDecoder().decode([Decimal].self, from: value) == [Decimal(string: "9223372036854775809")])
        #expect(Self.outcome { try JSONValueDecoder().decode([Int64].self, from: value) } == "dataCorrupted at 0")
    }

    @Test("A record keeps a 23-digit id and a price from the text to the model and back")
    func keepsDigitsEndToEnd() throws {
        struct Item: Codable, Equatable {
            var id: Decimal
            var count: UInt64
            var price: Decimal
            var any: JSONValue
        }
        let text =
            #"{"id":12345678901234567890123,"count":18446744073709551615,"price":12345678901234567.89,"any":1e-400}"#
        let item = try CodingOptions().decode(Item.self, parsing: Array(text.utf8))
        #expect(item.id.description == "12345678901234567890123" && item.count == .max)
        #expect(try String(decoding: CodingOptions().encode(item).serialized(), as: UTF8.self) == text)
    }

    @Test("A decoder or encoder other than this package's keeps the digits that a Decimal keeps, or fails")
    func passesThroughFoundation() throws {
        for text in ["12345678901234567890123", "12345678901234567.89", "18446744073709551615", "0.1", "-12"] {
            let value = try JSONDecoder().decode([JSONValue].self, from: Data("[\(text)]".utf8))
            #expect(value == [try JSONValue(parsing: text)])
            #expect(String(decoding: try JSONEncoder().encode(value), as: UTF8.self) == "[\(text)]")
        }
        let long = try JSONValue(parsing: "1.0000000000000000000000000000000000000000000001")
        #expect(throws: EncodingError.self) { try JSONEncoder().encode([long]) }
    }

    @Test("Dates are read with and without fractions and offsets")
    func readsDates() throws {
        let expected = Date(timeIntervalSince1970: 1_704_164_645)
        for text in ["2024-01-02T03:04:05.000Z", "2024-01-02T03:04:05Z", "2024-01-02T04:04:05+01:00"] as [JSONValue] {
            #expect(try JSONValueDecoder().decode(Date.self, from: text) == expected)
        }
        #expect(
            try JSONValueDecoder(CodingOptions(dates: .millisecondsSince1970)).decode(
                [Date].self, from: [1_704_164_645_000]) == [expected])
        #expect(
            try JSONValueDecoder(CodingOptions(dates: .secondsSince1970)).decode([Date].self, from: [1_704_164_645])
                == [expected])
        #expect(Self.outcome { try JSONValueDecoder().decode(Date.self, from: "soon") } == "dataCorrupted at ")
        #expect(
            Self.outcome { try JSONValueDecoder().decode([String: Date].self, from: ["a": 1]) } == "typeMismatch at a")
        #expect(Self.outcome { try JSONValueDecoder().decode([Date].self, from: [nil]) } == "valueNotFound at 0")
    }

    @Test(
        "Decimals are read from numbers and from strings, digit by digit",
        arguments: [
            (12, "12"), (12.34, "12.34"), (0.1, "0.1"), ("12.3400000000000000000001", "12.3400000000000000000001"),
            ("-5", "-5"),
        ] as [(JSONValue, String)])
    func readsDecimals(value: JSONValue, text: String) throws {
        #expect(try JSONValueDecoder().decode(Decimal.self, from: value) == Decimal(string: text))
    }

    @Test("What is no decimal is refused", arguments: ["12 apples", "", "x", "\"1\"", true, nil, []] as [JSONValue])
    func refusesDecimals(value: JSONValue) {
        #expect(throws: DecodingError.self) { try JSONValueDecoder().decode(Decimal.self, from: value) }
    }

    @Test("User info reaches the model")
    func passesUserInfo() throws {
        struct Reader: Codable {
            init(from decoder: any Decoder) throws {
                let key = try #require(CodingUserInfoKey(rawValue: "k"))
                #expect(decoder.userInfo[key] as? Int == 5)
            }
        }
        let key = try #require(CodingUserInfoKey(rawValue: "k"))
        _ = try JSONValueDecoder(CodingOptions(userInfo: [key: 5])).decode([Reader].self, from: [1])
    }
}
