import FeathersCore
import FeathersJSON
import Foundation
import Synchronization
import Testing

/// A model of all kinds of properties that lists them.
private struct Listed: PropertyCodable {
    var text: String
    var flag: Bool
    var count: Int
    var ratio: Double
    var small: Int8
    var maybeText: String?
    var maybeFlag: Bool?
    var maybeCount: Int?
    var maybeRatio: Double?
    var date: Date
    var maybeURL: URL?
    @Nullable var nullable: Date?
    @Indirect var child: Listed?
    @Indirect var name: String
    var change: Presence<Int>
    var tags: [String]
    var parts: [Part]
    var groups: [String: [Int]]?
    var part: Part?
    var json: JSONValue?

    struct Part: PropertyCodable {
        var isBig: Bool
        var size: Int

        static var properties: KeyValuePairs<String, PartialKeyPath<Self>> { ["is_big": \.isBig, "size": \.size] }
    }

    static var properties: KeyValuePairs<String, PartialKeyPath<Self>> {
        [
            "text": \.text, "flag": \.flag, "count": \.count, "ratio": \.ratio, "small": \.small, "maybe_text": \.maybeText,
            "maybeFlag": \.maybeFlag, "maybeCount": \.maybeCount, "maybeRatio": \.maybeRatio, "date": \.date, "maybeURL": \.maybeURL,
            "nullable": \._nullable, "child": \._child, "name": \._name, "change": \.change, "tags": \.tags, "parts": \.parts,
            "groups": \.groups, "part": \.part, "json": \.json,
        ]
    }
}

/// The same model with coding keys, for which the compiler writes the functions.
private struct Keyed: Codable, Hashable {
    var text: String
    var flag: Bool
    var count: Int
    var ratio: Double
    var small: Int8
    var maybeText: String?
    var maybeFlag: Bool?
    var maybeCount: Int?
    var maybeRatio: Double?
    var date: Date
    var maybeURL: URL?
    @Nullable var nullable: Date?
    @Indirect var child: Keyed?
    @Indirect var name: String
    var change: Presence<Int>
    var tags: [String]
    var parts: [Part]
    var groups: [String: [Int]]?
    var part: Part?
    var json: JSONValue?

    struct Part: Codable, Hashable {
        var isBig: Bool
        var size: Int

        enum CodingKeys: String, CodingKey {
            case isBig = "is_big"
            case size
        }
    }

    enum CodingKeys: String, CodingKey {
        case text, flag, count, ratio, small
        case maybeText = "maybe_text"
        case maybeFlag, maybeCount, maybeRatio, date, maybeURL, nullable, child, name, change, tags, parts, groups, part, json
    }
}

/// Counts its values, to show that each one is released.
private final class Token: Codable, Hashable, Sendable {
    static let living = Atomic<Int>(0)
    let number: Int

    init(from decoder: any Decoder) throws {
        number = try decoder.singleValueContainer().decode(Int.self)
        Self.living.add(1, ordering: .relaxed)
    }

    deinit { Self.living.subtract(1, ordering: .relaxed) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }

    static func == (first: Token, second: Token) -> Bool { first.number == second.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

private struct Tokens: PropertyCodable {
    var first: Token
    var others: [Token]
    var text: String
    var last: Token?

    static var properties: KeyValuePairs<String, PartialKeyPath<Self>> {
        ["first": \.first, "others": \.others, "text": \.text, "last": \.last]
    }
}

private struct Nothing: PropertyCodable {
    static var properties: KeyValuePairs<String, PartialKeyPath<Self>> { [:] }
}

@Suite("Types that list their properties")
struct PropertyCodingTests {
    /// A random object, usually one that the models accept.
    private static func object(_ random: inout some RandomNumberGenerator, depth: Int = 0) -> JSONValue {
        func one(_ values: [JSONValue]) -> JSONValue? { values.randomElement(using: &random) }
        let date = JSONValue.string("2024-01-02T03:04:05.\(Int.random(in: 100...999, using: &random))Z")
        var object: JSONObject = [
            "text": one(["", "a", "Zürich, a text that is longer than its structure"]) ?? nil, "flag": one([true, false]) ?? nil,
            "count": one([0, 1, -7]) ?? nil, "ratio": one([0, 0.5, 3]) ?? nil, "small": one([1, 127]) ?? nil, "date": date,
            "name": one(["b", "a name that is longer than its structure"]) ?? nil, "tags": one([[], ["a", "b"]]) ?? nil,
            "parts": one([[], [["is_big": true, "size": 1], ["is_big": false, "size": 2]]]) ?? nil,
        ]
        let others: [(String, [JSONValue])] = [
            ("maybe_text", ["", "a", nil]), ("maybeFlag", [true, nil]), ("maybeCount", [3, nil]), ("maybeRatio", [1.5, nil]),
            ("maybeURL", ["https://example.com/a", nil]), ("nullable", [date, nil]), ("change", [4, nil]),
            ("groups", [["a": [1, 2]], [:], nil]), ("part", [["is_big": true, "size": 1], nil]), ("json", [["a": [nil, 1]], "b", nil]),
        ]
        for (key, values) in others where Bool.random(using: &random) { object[key] = one(values) }
        if depth < 2, Bool.random(using: &random) { object["child"] = Self.object(&random, depth: depth + 1) }
        switch Int.random(in: 0..<8, using: &random) {
        case 0: if let key = object.keys.randomElement(using: &random) { object[key] = nil }
        case 1: if let key = object.keys.randomElement(using: &random) { object[key] = one([nil, 1, "x", [], [:], 300]) }
        default: break
        }
        return .object(object)
    }

    private static func result<Value>(_ body: () throws -> Value) -> Result<Value, any Error> { Result(catching: body) }

    /// An error with its path, to compare.
    private static func text(_ error: any Error) -> String {
        guard let error = error as? DecodingError else { return "\(error)" }
        let (kind, context) =
            switch error {
            case .keyNotFound(let key, let context): ("no \(key.stringValue)", context)
            case .typeMismatch(let type, let context): ("not \(type)", context)
            case .valueNotFound(let type, let context): ("null for \(type)", context)
            case .dataCorrupted(let context): ("corrupted", context)
            @unknown default: ("unknown", DecodingError.Context(codingPath: [], debugDescription: ""))
            }
        let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
        return "\(kind) at \(path): \(context.debugDescription)".replacing("Keyed", with: "Listed")
    }

    @Test("decode, encode, equal and hash as those with coding keys do, with any decoder and encoder")
    func random() throws {
        var random = SystemRandomNumberGenerator()
        var (accepted, refused, changes) = (0, 0, 0)
        for _ in 0..<500 {
            let json = Self.object(&random)
            let listed = Self.result { try json.decode(Listed.self) }
            let keyed = Self.result { try json.decode(Keyed.self) }
            switch (listed, keyed) {
            case (.success(let listed), .success(let keyed)):
                accepted += 1
                let encoded = try JSONValue(encoding: listed)
                #expect(encoded == (try JSONValue(encoding: keyed)), "\(json)")
                #expect(encoded.object?.map(\.key) == (try JSONValue(encoding: keyed).object?.map(\.key)), "\(json)")
                #expect(try encoded.decode(Listed.self) == json.decode(Listed.self), "\(json)")
                #expect(try encoded.decode(Listed.self).hashValue == listed.hashValue, "\(json)")
                // Foundation's decoders read dates as numbers, and the type's own date is text.
                let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
                encoder.outputFormatting = .sortedKeys
                let data = try encoder.encode(listed)
                #expect(data == (try encoder.encode(keyed)), "\(json)")
                #expect(try decoder.decode(Listed.self, from: data) == listed, "\(json)")
                // The same record with another value for one of its properties.
                guard case .object(var other) = json, let key = other.keys.randomElement(using: &random) else { continue }
                other[key] = Self.object(&random)[key]
                guard let changed = try? JSONValue.object(other).decode(Keyed.self) else { continue }
                let changedListed = try JSONValue.object(other).decode(Listed.self)
                #expect((listed == changedListed) == (keyed == changed), "\(key) of \(json) and \(other)")
                #expect((listed.hashValue == changedListed.hashValue) == (keyed == changed), "\(key) of \(json) and \(other)")
                changes += keyed == changed ? 0 : 1
            case (.failure(let listed), .failure(let keyed)):
                refused += 1
                #expect(Self.text(listed) == Self.text(keyed), "\(json)")
            default: Issue.record("\(json): \(listed), \(keyed)")
            }
        }
        #expect(accepted > 100 && refused > 10 && changes > 20)
    }

    @Test("release what was decoded before a property that fails, and everything else")
    func release() throws {
        #expect(throws: DecodingError.self) {
            try (["first": 1, "others": [2, 3, 4], "text": 5, "last": 6] as JSONValue).decode(Tokens.self)
        }
        #expect(Token.living.load(ordering: .relaxed) == 0)
        for _ in 0..<3 {
            let json: JSONValue = ["first": 1, "others": [2, 3, 4], "text": "a text that is longer than its structure", "last": 6]
            var tokens = [try json.decode(Tokens.self), try json.decode(Tokens.self)]
            #expect(Token.living.load(ordering: .relaxed) == 10)
            #expect(tokens[0] == tokens[1])
            #expect(Set(tokens).count == 1)
            #expect(try JSONValue(encoding: tokens[0]) == json)
            tokens[0].last = nil
            #expect(Token.living.load(ordering: .relaxed) == 9)
            #expect(tokens[0] != tokens[1])
        }
        #expect(Token.living.load(ordering: .relaxed) == 0)
    }

    @Test("may have properties of any size and alignment, and constants", arguments: [true, false])
    func layout(_ flag: Bool) throws {
        struct Empty: PropertyCodable {
            static var properties: KeyValuePairs<String, PartialKeyPath<Self>> { [:] }
        }
        struct Box<Value: Codable & Hashable & Sendable>: PropertyCodable {
            let flag: Bool
            let value: Value
            var empty: Empty
            let last: Int16?

            static var properties: KeyValuePairs<String, PartialKeyPath<Self>> {
                ["last": \.last, "empty": \.empty, "value": \.value, "flag": \.flag]
            }
        }
        func check<Value: Codable & Hashable & Sendable>(_ value: Value, _ other: Value) throws {
            let (box, changed) = (
                Box(flag: flag, value: value, empty: Empty(), last: flag ? 7 : nil),
                Box(flag: flag, value: other, empty: Empty(), last: nil)
            )
            let copy = try JSONValue(encoding: box).decode(Box<Value>.self)
            #expect(copy == box && copy.hashValue == box.hashValue && copy != changed)
        }
        try check(true, false)
        try check(Int16(1), 2)
        try check(Int64(1), 2)
        try check("text", "another text that is longer than its structure")
        try check(SIMD4<Float>(1, 2, 3, 4), SIMD4<Float>(1, 2, 3, 5))
        try check(["a", "b"], ["a", "c"])
        try check(Optional(Box(flag: flag, value: 1.5, empty: Empty(), last: nil)), nil)
    }

    @Test("compare numbers as numbers, except that what is not a number equals itself")
    func numbers() {
        struct Number: PropertyCodable {
            var number: Double
            var other: Double?

            static var properties: KeyValuePairs<String, PartialKeyPath<Self>> { ["number": \.number, "other": \.other] }
        }
        #expect(Number(number: 0, other: -0.0) == Number(number: -0.0, other: 0))
        #expect(Number(number: 0, other: -0.0).hashValue == Number(number: -0.0, other: 0).hashValue)
        #expect(Number(number: .nan) == Number(number: .nan))
        #expect(Number(number: 1) != Number(number: 2))
        #expect(Number(number: 1, other: 1) != Number(number: 1))
    }

    @Test("may have functions of their own")
    func ownFunctions() throws {
        struct Name: PropertyCodable, Identifiable {
            var id: Int
            var name: String

            static var properties: KeyValuePairs<String, PartialKeyPath<Self>> { ["id": \.id, "name": \.name] }

            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(name)
            }

            static func == (first: Self, second: Self) -> Bool { first.name.lowercased() == second.name.lowercased() }
            func hash(into hasher: inout Hasher) { hasher.combine(name.lowercased()) }
        }
        #expect(try JSONValue(encoding: Name(id: 1, name: "Ada")) == "Ada")
        #expect(Set([Name(id: 1, name: "Ada"), Name(id: 2, name: "ada")]).count == 1)
    }

    @Test("may have no properties")
    func nothing() throws {
        #expect(try (["a": 1] as JSONValue).decode(Nothing.self) == Nothing())
        #expect(try JSONValue(encoding: Nothing()) == .object([:]))
        #expect(throws: DecodingError.self) { try ([1] as JSONValue).decode(Nothing.self) }
    }

    @Test("may be used first by several threads at once")
    func concurrency() {
        struct First<Tag: Sendable>: PropertyCodable {
            var text: String
            var number: Int

            static var properties: KeyValuePairs<String, PartialKeyPath<Self>> { ["text": \.text, "number": \.number] }
        }
        func check<Tag: Sendable>(_ tag: Tag.Type) {
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                #expect(throws: Never.self) {
                    let first = try (["text": "a", "number": 1] as JSONValue).decode(First<Tag>.self)
                    #expect(first == First(text: "a", number: 1))
                }
            }
        }
        check(Int8.self)
        check(Int16.self)
        check(Int32.self)
        check(Int64.self)
        check([Int8].self)
        check([Int16].self)
        check([Int32].self)
        check([Int64].self)
    }

    /// Counts how often its list is read.
    private struct Read: PropertyCodable {
        static let count = Atomic<Int>(0)
        var number: Int
        @Indirect var parent: Read?
        var others: [Read]?

        static var properties: KeyValuePairs<String, PartialKeyPath<Self>> {
            count.add(1, ordering: .relaxed)
            return ["number": \.number, "parent": \._parent, "others": \.others]
        }
    }

    @Test("are read once, even if decoding the first values fails inside each other")
    func readOnce() throws {
        for json in [["number": 1, "parent": ["number": 2, "others": [["number": 3], ["number": "4"]]]], ["parent": nil]] as [JSONValue] {
            #expect(throws: DecodingError.self) { try json.decode(Read.self) }
        }
        let json: JSONValue = ["number": 1, "parent": ["number": 2, "others": [["number": 3]]]]
        #expect(try JSONValue(encoding: json.decode(Read.self)) == json)
        #expect(Read.count.load(ordering: .relaxed) == 1)
    }

    @Test("rename keys as options of the service say")
    func keyFormat() throws {
        struct Camel: PropertyCodable {
            var createdAt: Int

            static var properties: KeyValuePairs<String, PartialKeyPath<Self>> { ["createdAt": \.createdAt] }
        }
        let options = CodingOptions(keys: .snakeCase)
        #expect(try options.encode(Camel(createdAt: 1)) == ["created_at": 1])
        #expect(try options.decode(Camel.self, from: ["created_at": 1]) == Camel(createdAt: 1))
    }
}

@Suite("Lists of properties that are wrong")
struct WrongPropertyListTests {
    private struct Missing: PropertyEncodable {
        var text = ""
        var number = 1

        static var properties: KeyValuePairs<String, PartialKeyPath<Self>> { ["text": \.text] }
    }

    private struct Hole: PropertyEncodable {
        var first = ""
        var second = ""
        var third = ""

        static var properties: KeyValuePairs<String, PartialKeyPath<Self>> { ["third": \.third, "first": \.first] }
    }

    /// What is missing fits between the others.
    private struct Gap: PropertyCodable {
        var id = 0
        var isDone = false
        var isPinned = false
        var priority: Int16? = nil
        var count = 0

        static var properties: KeyValuePairs<String, PartialKeyPath<Self>> { ["id": \.id, "isDone": \.isDone, "count": \.count] }
    }

    private struct WideGap: PropertyCodable {
        var id = 0
        var tags: [String] = []
        var vector = SIMD4<Float>.zero

        static var properties: KeyValuePairs<String, PartialKeyPath<Self>> { ["id": \.id, "vector": \.vector] }
    }

    private struct Twice: PropertyEncodable {
        var text = ""

        static var properties: KeyValuePairs<String, PartialKeyPath<Self>> { ["text": \.text, "again": \.text] }
    }

    private struct SameName: PropertyEncodable {
        var first = 1
        var second = 2

        static var properties: KeyValuePairs<String, PartialKeyPath<Self>> { ["a": \.first, "a": \.second] }
    }

    private struct Whole: PropertyEncodable {
        var text = ""

        static var properties: KeyValuePairs<String, PartialKeyPath<Self>> { ["text": \.self] }
    }

    private struct Computed: PropertyEncodable {
        var text = ""
        var length: Int { text.count }

        static var properties: KeyValuePairs<String, PartialKeyPath<Self>> { ["text": \.text, "length": \.length] }
    }

    private struct Observed: PropertyEncodable {
        var text = "" { didSet {} }

        static var properties: KeyValuePairs<String, PartialKeyPath<Self>> { ["text": \.text] }
    }

    private struct OnlySent: PropertyCodable {
        struct Part: Encodable {}
        var part = Part()

        static var properties: KeyValuePairs<String, PartialKeyPath<Self>> { ["part": \.part] }
    }

    private static func output(_ result: ExitTest.Result?) -> String { String(decoding: result?.standardErrorContent ?? [], as: UTF8.self) }

    @Test("stop the program and name the type, when a value is encoded")
    func encoding() async {
        let missing = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try JSONValue(encoding: Missing())
        }
        #expect(Self.output(missing).contains("Missing.properties must list all stored properties."))
        let hole = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { _ = try JSONValue(encoding: Hole()) }
        #expect(Self.output(hole).contains("Hole.properties must list each stored property once. See 'third'"))
        let gap = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { _ = try JSONValue(encoding: Gap()) }
        #expect(Self.output(gap).contains("Gap.properties must list all stored properties: id, isDone, isPinned, priority, count."))
        let twice = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { _ = try JSONValue(encoding: Twice()) }
        #expect(Self.output(twice).contains("Twice.properties must list each stored property once. See 'again'"))
    }

    @Test("stop the program and name the property, if it cannot be reached or coded")
    func properties() async {
        let computed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try JSONValue(encoding: Computed())
        }
        #expect(
            Self.output(computed).contains("'length' in Computed.properties must be a stored property of a structure, without observers"))
        let observed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try JSONValue(encoding: Observed())
        }
        #expect(Self.output(observed).contains("'text' in Observed.properties must be a stored property of a structure, without observers"))
        let same = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try JSONValue(encoding: SameName())
        }
        #expect(Self.output(same).contains("'a' is listed twice in SameName.properties"))
        let whole = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { _ = try JSONValue(encoding: Whole()) }
        #expect(Self.output(whole).contains("'text' in Whole.properties must be a stored property"))
        let sent = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { _ = OnlySent().hashValue }
        #expect(Self.output(sent).contains("'part' in OnlySent.properties must be codable and hashable"))
    }

    @Test("stop the program when a value is decoded or compared")
    func others() async {
        let decoded = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try (["id": 1, "vector": [1, 2, 3, 4]] as JSONValue).decode(WideGap.self)
        }
        #expect(Self.output(decoded).contains("WideGap.properties must list all stored properties: id, tags, vector."))
        let compared = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { _ = Gap() == Gap(id: 1) }
        #expect(Self.output(compared).contains("Gap.properties must list all stored properties"))
        let hashed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { _ = Gap().hashValue }
        #expect(Self.output(hashed).contains("Gap.properties must list all stored properties"))
    }
}
