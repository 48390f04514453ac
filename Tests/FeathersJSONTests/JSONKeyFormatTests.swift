import FeathersJSON
import Foundation
import Testing

@Suite("Keys of models")
struct JSONKeyFormatTests {
    struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// A model with one property of any name.
    struct Single: Codable {
        var name: String
        init(_ name: String) { self.name = name }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Name.self)
            try container.encode(1, forKey: Name(stringValue: name))
        }
        init(from decoder: any Decoder) throws {
            name = try decoder.container(keyedBy: Name.self).allKeys.map(\.stringValue).joined(separator: ",")
        }
    }

    @Test(
        "Properties are written in snake case as Foundation writes them",
        arguments: [
            "id", "createdAt", "imageURL", "imageURLPath", "myURLProperty", "_id", "__v", "address1Line", "aB", "A",
            "x_y",
            "trailing_",
            "version2Beta", "größeÄndern",
        ])
    func snakeCase(name: String) throws {
        let foundation = JSONEncoder()
        foundation.keyEncodingStrategy = .convertToSnakeCase
        let expected = try JSONValue(parsing: foundation.encode(Single(name)))
        #expect(try CodingOptions(keys: .snakeCase).encode(Single(name)) == expected)
    }

    @Test(
        "A leading acronym is one word, where Foundation writes u_rl",
        arguments: [("URL", "url"), ("HTMLParser", "html_parser")])
    func leadingAcronym(name: String, key: String) throws {
        #expect(try CodingOptions(keys: .snakeCase).encode(Single(name)) == .object([key: 1]))
    }

    @Test(
        "Keys in snake case read as Foundation reads them",
        arguments: [
            "id", "created_at", "image_url", "_id", "__private_key_", "a__b", "address1_line", "Already", "HTML_parser",
            "_", "trailing_",
        ])
    func camelCase(key: String) throws {
        let foundation = JSONDecoder()
        foundation.keyDecodingStrategy = .convertFromSnakeCase
        let json: JSONValue = .object([key: 1])
        let expected = try foundation.decode(Single.self, from: Data(json.serialized())).name
        #expect(try CodingOptions(keys: .snakeCase).decode(Single.self, from: json).name == expected)
    }

    struct Image: Codable, Equatable {
        var imageURL: String
        var createdAt: String?
        var sizes: [String: Int]
        var raw: JSONValue
        var nested: [Inner]

        struct Inner: Codable, Equatable {
            var lastSeen: Int
        }
    }

    static let image = Image(
        imageURL: "u", createdAt: "now", sizes: ["keptAsIs": 1], raw: ["alsoKept": 2], nested: [.init(lastSeen: 3)])

    @Test(
        "What is written in snake case is read again, acronyms too; the keys of dictionaries and JSON are data and stay"
    )
    func roundTrip() throws {
        let options = CodingOptions(keys: .snakeCase)
        let json: JSONValue = [
            "image_url": "u", "created_at": "now", "sizes": ["keptAsIs": 1], "raw": ["alsoKept": 2],
            "nested": [["last_seen": 3]],
        ]
        #expect(try options.encode(Self.image) == json)
        #expect(try options.decode(Image.self, from: json) == Self.image)
        #expect(try options.encode(["topLevel": Self.image])["topLevel"] == json)
        #expect(try options.decode([String: Image].self, from: ["topLevel": json]) == ["topLevel": Self.image])
    }

    @Test("A key that is written differently is found by what it reads as")
    func writtenDifferently() throws {
        struct Model: Codable { var createdAt: Int, lastSeen: Int? }
        let options = CodingOptions(keys: .snakeCase)
        let model = try options.decode(Model.self, from: ["createdAt": 1, "last_Seen": 2])
        #expect((model.createdAt, model.lastSeen) == (1, 2))
        #expect(throws: DecodingError.self) { try options.decode(Model.self, from: ["created": 1]) }
    }

    @Test("The other way round: camel case in JSON, snake case in the model")
    func camelCaseInJSON() throws {
        // swift-format-ignore: AlwaysUseLowerCamelCase
        struct Model: Codable, Equatable { var created_at: Int, _id: Int }
        let options = CodingOptions(keys: .camelCase)
        #expect(try options.encode(Model(created_at: 1, _id: 2)) == ["createdAt": 1, "_id": 2])
        #expect(try options.decode(Model.self, from: ["createdAt": 1, "_id": 2]) == Model(created_at: 1, _id: 2))
    }

    @Test("A form of one's own, and its keys in errors")
    func custom() throws {
        let options = CodingOptions(keys: .custom(encode: { "x-" + $0 }, decode: { String($0.dropFirst(2)) }))
        struct Model: Codable { var text: String }
        #expect(try options.encode(Model(text: "a")) == ["x-text": "a"])
        #expect(try options.decode(Model.self, from: ["x-text": "a"]).text == "a")
        let error = try #require(throws: DecodingError.self) { try options.decode(Model.self, from: [:]) }
        guard case .keyNotFound(let key, let context) = error else { throw error }
        #expect(key.stringValue == "text")
        #expect(context.debugDescription.contains("x-text"))
    }

    @Test("Classes and nested containers convert their keys too")
    func containers() throws {
        struct Model: Codable, Equatable {
            var deepValue = 0
            enum Keys: CodingKey { case outerKey }
            enum Inner: CodingKey { case deepValue }
            init(_ value: Int) { deepValue = value }
            init(from decoder: any Decoder) throws {
                deepValue = try decoder.container(keyedBy: Keys.self).nestedContainer(
                    keyedBy: Inner.self, forKey: .outerKey
                )
                .decode(Int.self, forKey: .deepValue)
            }
            func encode(to encoder: any Encoder) throws {
                var outer = encoder.container(keyedBy: Keys.self)
                var inner = outer.nestedContainer(keyedBy: Inner.self, forKey: .outerKey)
                try inner.encode(deepValue, forKey: .deepValue)
            }
        }
        let options = CodingOptions(keys: .snakeCase)
        #expect(try options.encode(Model(7)) == ["outer_key": ["deep_value": 7]])
        #expect(try options.decode(Model.self, from: ["outer_key": ["deep_value": 7]]) == Model(7))
    }
}
