import FeathersJSON
import FeathersTesting
import Foundation
import Testing

/// Decodes from the text and from the tree, and expects the same of both: the model, or the error with its place.
private func expectSame<Model: Codable & Equatable>(
    _ type: Model.Type, _ text: String, _ options: CodingOptions = CodingOptions(), sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let bytes = Array(text.utf8)
    let decoder = JSONValueDecoder(options)
    let fromTree = Result { try decoder.decode(type, from: JSONValue(parsing: bytes)) }
    let fromText = Result { try decoder.decode(type, parsing: bytes) }
    switch (fromTree, fromText) {
    case (.success(let tree), .success(let text)): #expect(tree == text, sourceLocation: sourceLocation)
    case (.failure(let tree), .failure(let text)):
        #expect(String(describing: tree) == String(describing: text), sourceLocation: sourceLocation)
    default: Issue.record("\(fromTree) from the tree, \(fromText) from the text", sourceLocation: sourceLocation)
    }
}

@Suite("Models decoded from texts")
struct JSONTapeDecodingTests {
    private struct Record: Codable, Equatable {
        struct Inner: Codable, Equatable {
            var id: Int
            var tags: [String]
        }

        var id: Int
        var inner: Inner?
        var tags: [String]
        var score: Double?
        var any: JSONValue?
    }

    @Test("are those of the tree, whatever the order of keys")
    func order() throws {
        let records = [
            #"{"id":1,"inner":{"id":2,"tags":["a"]},"tags":[],"score":0.5,"any":{"x":[1,null]}}"#,
            #"{"score":0.5,"tags":["b","c"],"inner":{"tags":["a","b\n"],"id":2},"any":"\u00e9","id":1}"#,
            #"{"inner":{"id":7,"tags":[]},"tags":["é"],"id":3}"#,
            #"{"tags":["d"],"id":4,"other":{"id":5},"inner":null}"#,
            #"{"other":{"id":5,"tags":["no"]},"tags":["d"],"id":4}"#,
        ]
        for record in records { try expectSame(Record.self, record) }
        for order in [records, records.reversed()] { try expectSame([Record].self, "[\(order.joined(separator: ","))]") }
    }

    @Test("have every kind of value and container")
    func everyKind() throws {
        func text(_ model: some Encodable) throws -> String {
            String(decoding: try JSONValueEncoder().encode(model).serialized(), as: UTF8.self)
        }
        try expectSame(Scalars.self, text(Scalars()))
        try expectSame(Nested.self, text(Nested()))
        let dog = try JSONValueDecoder().decode(Dog.self, parsing: Array(text(Dog()).utf8))
        #expect(dog.name == "Rex" && dog.legs == 4)
    }

    @Test(
        "fail as from the tree",
        arguments: [
            #"{}"#, #"{"id":"1","tags":[]}"#, #"{"id":1,"tags":[1]}"#, #"{"id":1,"tags":["a",null]}"#, #"{"id":1,"tags":{}}"#, #"[]"#,
            #"1"#, #"null"#,
            #"{"id":1.5,"tags":[]}"#, #"{"id":9223372036854775808,"tags":[]}"#, #"{"id":1,"tags":[],"inner":{"id":1}}"#,
            #"{"id":1,"tags":[],"inner":[]}"#,
            #"{"id":1,"tags":[],"score":"x"}"#, #"{"id":null,"tags":null}"#, #"{"id":1,"tags":["a","#,
        ])
    func failures(text: String) throws {
        try expectSame(Record.self, text)
        try expectSame([Record].self, "[\(text)]")
    }

    @Test("follow the coding options")
    func options() throws {
        struct Dated: Codable, Equatable {
            var createdAt: Date
            var imageURL: URL?
            var size: Double
            var names: [String: Int]
        }
        let formats: [CodingOptions] = [
            CodingOptions(), CodingOptions(dates: .millisecondsSince1970), CodingOptions(keys: .snakeCase),
            CodingOptions(keys: .snakeCase, nonConformingFloats: .strings(positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")),
        ]
        let texts = [
            #"{"createdAt":"2024-01-02T03:04:05.678Z","imageURL":"https://example.com","size":1,"names":{"a_b":1}}"#,
            #"{"created_at":"2024-01-02T03:04:05Z","image_url":"https://example.com","size":1.5,"names":{"a_b":1,"cD":2}}"#,
            #"{"size":"inf","names":{},"image_URL":"https://example.com","created_at":"2024-01-02T03:04:05Z"}"#,
            #"{"createdAt":1704164645678,"size":2,"names":{"é":3}}"#,
        ]
        for format in formats {
            for text in texts {
                try expectSame(Dated.self, text, format)
                try expectSame([Dated].self, "[\(text),\(text)]", format)
            }
        }
    }

    @Test("may keep values as deep as a text may be")
    func depth() throws {
        struct Keeping: Codable, Equatable {
            var any: JSONValue
            var object: JSONObject?
        }
        let deep = String(repeating: "[", count: 510) + String(repeating: "]", count: 510)
        try expectSame(Keeping.self, #"{"any":\#(deep)}"#)
        try expectSame(Keeping.self, #"{"any":{"a":[1,{"b":"\u00e9"}],"c":null},"object":{"z":1,"a":{"z":2}}}"#)
        try expectSame(Keeping.self, #"{"any":1,"object":[]}"#)
    }

    @Test("are counted once, however often a loop asks")
    func counting() throws {
        struct Counting: Codable, Equatable {
            var numbers: [Int] = []

            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                while container.currentIndex < container.count ?? 0 { numbers.append(try container.decode(Int.self)) }
            }
        }
        let numbers = Array(0..<20_000)
        let decoded = try JSONValueDecoder().decode(Counting.self, parsing: Array("\(numbers)".utf8))
        #expect(decoded.numbers == numbers)
    }

    @Test("try one kind after the other, as unions do")
    func unions() throws {
        enum Union: Codable, Equatable {
            case number(Double)
            case text(String)
            case list([Union])
            case record([String: Union])

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if let number = try? container.decode(Double.self) {
                    self = .number(number)
                } else if let text = try? container.decode(String.self) {
                    self = .text(text)
                } else if let list = try? container.decode([Union].self) {
                    self = .list(list)
                } else {
                    self = .record(try container.decode([String: Union].self))
                }
            }
        }
        try expectSame(Union.self, #"[1,"a",[2.5,{"b":[3,"\n"],"c":{}}],{"d":"e"}]"#)
        try expectSame(Union.self, "[true]")
    }

    @Test("are those of the tree for any text", arguments: 0..<10)
    func anyText(seed: UInt64) throws {
        var generator = RandomJSON(random: SeededGenerator(seed: 500 + seed))
        for _ in 0..<100 {
            let text = String(decoding: try generator.damagedText(), as: UTF8.self)
            try expectSame(JSONValue.self, text)
            try expectSame([JSONValue].self, "[\(text)]")
            try expectSame([String: JSONValue].self, text)
            try expectSame([Double?].self, text)
            try expectSame([String].self, text)
        }
    }
}
