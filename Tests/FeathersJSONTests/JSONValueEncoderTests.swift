import FeathersJSON
import Foundation
import Testing

@Suite("Encoding models to JSONValue")
struct JSONValueEncoderTests {
    private func expectSameAsFoundation<T: Encodable>(_ model: T, sourceLocation: SourceLocation = #_sourceLocation)
        throws
    {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .millisecondsSince1970
        let theirs = try JSONValue(parsing: encoder.encode(model))
        let ours = try JSONValueEncoder(CodingOptions(dates: .millisecondsSince1970)).encode(model)
        #expect(ours == theirs, sourceLocation: sourceLocation)
    }

    @Test("A model becomes what JSONEncoder makes of it")
    func agreesWithFoundation() throws {
        try expectSameAsFoundation(Scalars())
        try expectSameAsFoundation(Nested())
        try expectSameAsFoundation(Dog())
        try expectSameAsFoundation([Scalars(), Scalars()])
        try expectSameAsFoundation(["a": [1.5, 2]])
        try expectSameAsFoundation("text")
        try expectSameAsFoundation(1)
        try expectSameAsFoundation(true)
        try expectSameAsFoundation(Float(0.1))
        try expectSameAsFoundation(Int?.none)
        try expectSameAsFoundation([Nothing()])
        try expectSameAsFoundation(Date(timeIntervalSince1970: 1.5))
        try expectSameAsFoundation([Date(timeIntervalSince1970: 1.5)])
        try expectSameAsFoundation(JSONValue.object(["a": [1, nil, 2.5, "x", ["b": false]]]))
    }

    @Test("Keys keep the order in which the model encodes them")
    func keepsOrder() throws {
        let object = try JSONValueEncoder().encode(Dog()).object
        #expect(object?.keys == ["name", "nested", "list", "twice", "super"])
        let many = Dictionary(uniqueKeysWithValues: (0..<100).map { ("key\($0)", $0) })
        #expect(try JSONValueEncoder().encode(many).object?.count == 100)
    }

    @Test("A UUID is written in lower case wherever it is, and read in either case")
    func writesUUIDs() throws {
        struct Record: Codable, Equatable {
            var id: UUID
            var others: [UUID?]
            var counts: [UUID: Int]
        }
        let text = "9665e53c-7c1e-4f0b-8bd0-abcdef012345"
        let uuid = try #require(UUID(uuidString: text))
        let record = Record(id: uuid, others: [uuid, nil], counts: [uuid: 1])
        // Codable has a dictionary whose keys are neither strings nor integers alternate between keys and values.
        let json: JSONValue = ["id": .string(text), "others": [.string(text), nil], "counts": [.string(text), 1]]
        #expect(try JSONValueEncoder().encode(record) == json)
        #expect(try JSONValueEncoder().encode(uuid) == .string(text))
        #expect(try JSONValueDecoder().decode(Record.self, from: json) == record)
        #expect(
            try JSONValueDecoder().decode([UUID].self, from: [.string(text), .string(text.uppercased())]) == [
                uuid, uuid,
            ])
        #expect(try JSONValueDecoder().decode([UUID].self, from: [.string(text.uppercased())]) == [uuid])
    }

    @Test("A date is written as JavaScript's toJSON writes it, unless told otherwise")
    func writesDates() throws {
        for milliseconds in [1_704_164_645_678.0, 1_704_164_645_001, 1_704_164_645_999, -1, 4_102_444_799_999, 1] {
            let date = Date(timeIntervalSince1970: milliseconds / 1000)
            let text = try JSONValueEncoder().encode(date)
            #expect(
                try JSONValueDecoder().decode(Date.self, from: text).timeIntervalSince1970 == date.timeIntervalSince1970
            )
        }
        let date = Date(timeIntervalSince1970: 1_704_164_645.678)
        #expect(try JSONValueEncoder().encode(["at": date]) == ["at": "2024-01-02T03:04:05.678Z"])
        #expect(try JSONValueEncoder(CodingOptions(dates: .secondsSince1970)).encode([date]) == [1_704_164_645.678])
        #expect(throws: EncodingError.self) { try JSONValueEncoder().encode(Date(timeIntervalSince1970: 1e15)) }
    }

    @Test(
        "A date that is none is refused, with the way to it, and the error can be printed",
        arguments: [Double.nan, .infinity, -.infinity])
    func refusesDatesThatAreNone(seconds: Double) throws {
        struct Refused: Error {}
        let own = JSONDateFormat.custom(encode: { _ in throw Refused() }, decode: { _ in throw Refused() })
        for format in [JSONDateFormat.iso8601, .iso8601WithoutFraction, .millisecondsSince1970, .secondsSince1970, own]
        {
            let encoder = JSONValueEncoder(CodingOptions(dates: format))
            let error = try #require(throws: EncodingError.self) {
                try encoder.encode(["at": [Date(timeIntervalSince1970: seconds)]])
            }
            guard case .invalidValue(_, let context) = error else { throw error }
            #expect(context.codingPath.map(\.stringValue).first == "at")
            // Foundation would end the process here, were the date itself in the error.
            #expect(!"\(error) \(error.localizedDescription)".isEmpty)
        }
    }

    @Test("JSON values pass unchanged, wherever they stand")
    func passesJSONValues() throws {
        struct Holder: Codable, Equatable {
            var value: JSONValue
            var object: JSONObject
            var list: [JSONValue]
        }
        // JSON cannot express NaN, so only a value that was not taken apart can still hold it.
        let holder = Holder(value: ["b": 1, "a": .number(.infinity)], object: ["z": 1, "y": 2], list: [nil, 1])
        let encoded = try JSONValueEncoder().encode(holder)
        #expect(encoded["value"] == holder.value)
        #expect(encoded["object"]?.object?.keys == ["z", "y"])
        #expect(try JSONValueDecoder().decode(Holder.self, from: encoded) == holder)
    }

    @Test("Every number keeps its digits")
    func keepsDigits() throws {
        func text(_ value: some Encodable) throws -> String {
            String(decoding: try JSONValueEncoder().encode(value).serialized(), as: UTF8.self)
        }
        #expect(try text([UInt64.max, 1]) == "[18446744073709551615,1]")
        #expect(try text(["a": Int128.min]) == #"{"a":-170141183460469231731687303715884105728}"#)
        #expect(try text(UInt128(1) << 64) == "18446744073709551616")
        #expect(try text(Decimal(string: "0.123456789012345678901234567890")) == "0.12345678901234567890123456789")
        #expect(
            try text([Decimal(string: "12345678901234567890.10"), 12, Decimal(string: "-1.50")])
                == "[12345678901234567890.1,12,-1.5]")
        #expect(try text([Float(0.1), 16_777_216, 1e20]) == "[0.1,16777216,100000000000000000000]")
    }

    @Test("What cannot be kept exactly is refused, with the way to it")
    func refusesWhatIsInexact() {
        func path(_ encode: () throws -> JSONValue) -> [String]? {
            do {
                _ = try encode()
                return nil
            } catch EncodingError.invalidValue(_, let context) {
                return context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
            } catch {
                return nil
            }
        }
        let encoder = JSONValueEncoder()
        #expect(path { try encoder.encode(["a": [[Double.nan]]]) } == ["a", "0", "0"])
        #expect(path { try encoder.encode([Float.infinity]) } == ["0"])
        #expect(path { try encoder.encode([Decimal.nan]) } == ["0"])
        #expect(path { try encoder.encode(Nothing()) } == nil)
        #expect(path { try encoder.encode(Silent()) } == [])
        #expect(path { try encoder.encode(["a": TwoFaced()]) } == ["a"])
        #expect(path { try encoder.encode(NestedFailure()) } == ["outer", "0", "inner"])
    }

    /// Encodes nothing at all.
    private struct Silent: Encodable {
        func encode(to encoder: any Encoder) {}
    }

    /// Asks for two kinds of container.
    private struct TwoFaced: Encodable {
        func encode(to encoder: any Encoder) throws {
            var list = encoder.unkeyedContainer()
            try list.encode(1)
            var single = encoder.singleValueContainer()
            try single.encode(2)
        }
    }

    private struct NestedFailure: Encodable {
        enum Keys: CodingKey {
            case outer, inner
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            var list = container.nestedUnkeyedContainer(forKey: .outer)
            var object = list.nestedContainer(keyedBy: Keys.self)
            #expect(object.codingPath.map(\.stringValue) == ["outer", "Index 0"])
            try object.encode(Double.nan, forKey: .inner)
        }
    }

    @Test("A key that is written twice keeps the last value")
    func replacesValues() throws {
        struct Twice: Encodable {
            enum Keys: CodingKey {
                case a
            }

            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                var nested = container.nestedUnkeyedContainer(forKey: .a)
                try nested.encode(1)
                try container.encode("last", forKey: .a)
            }
        }
        #expect(try JSONValueEncoder().encode(Twice()) == ["a": "last"])
    }

    /// Remembers the encoder that it was given.
    private final class Witness: Encodable {
        private(set) weak var encoder: AnyObject?
        let fails: Bool

        init(fails: Bool) {
            self.fails = fails
        }

        func encode(to encoder: any Encoder) throws {
            self.encoder = encoder as AnyObject
            var container = encoder.unkeyedContainer()
            var nested = container.nestedUnkeyedContainer()
            try nested.encode(fails ? Double.nan : 1)
            try 2.encode(to: nested.superEncoder())
        }
    }

    @Test("Nothing stays in memory, whether encoding succeeds or not", arguments: [false, true])
    func leavesNothingBehind(fails: Bool) throws {
        let witness = Witness(fails: fails)
        if fails {
            #expect(throws: EncodingError.self) { try JSONValueEncoder().encode([witness]) }
        } else {
            #expect(try JSONValueEncoder().encode([witness]) == [[[1, 2]]])
        }
        #expect(witness.encoder == nil)
    }
}
