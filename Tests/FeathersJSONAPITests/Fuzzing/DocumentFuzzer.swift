import FeathersCore
import FeathersJSONAPI

/// Makes documents that were right once, and checks what must hold of any.
struct DocumentFuzzer {
    private var random: SplitMix
    private let seeds: [JSONValue]
    private let names = [
        "data", "errors", "meta", "links", "included", "jsonapi", "type", "id", "lid", "attributes", "relationships",
        "author", "comments",
        "title", "name",
        "href", "self", "next", "source", "pointer", "status", "@a", "a:b", "op", "ref", "atomic:operations",
        "relationship", "", "a/b",
        "~",
    ]

    /// What became of the documents so far.
    struct Outcome {
        var unreadable = 0
        var valid = 0
        var decoded = 0
        var misfits = 0
        /// The errors and violations that were given, each with a place that was looked at.
        var places = 0
        /// What should not have happened, in words.
        var findings: [String] = []

        var total: Int { unreadable + decoded + misfits }
    }

    init(seed: UInt64) throws {
        random = SplitMix(state: seed)
        seeds = [
            try JSONAPIDocument.example().json,
            [
                "data": [
                    "type": "articles", "id": "1", "attributes": ["title": "A"],
                    "relationships": ["author": ["data": nil]],
                ]
            ],
            [
                "data": [
                    [
                        "type": "articles", "id": "1", "attributes": ["title": "A"],
                        "relationships": ["author": ["data": ["type": "people", "id": "1"]]],
                    ],
                    [
                        "type": "articles", "id": "2", "attributes": ["title": "B"],
                        "relationships": ["comments": ["data": []]],
                    ],
                ],
                "included": [
                    [
                        "type": "people", "id": "1", "attributes": ["name": "N"],
                        "relationships": ["articles": ["data": [["type": "articles", "id": "2"]]]],
                    ]
                ],
            ],
            [
                "errors": [["status": "422", "source": ["pointer": "/data/a"], "links": ["type": ["https://a"]]]],
                "meta": ["a": 1],
            ],
            [
                "atomic:operations": [
                    ["op": "add", "data": ["type": "articles", "lid": "a", "attributes": ["title": "A"]]],
                    [
                        "op": "update", "ref": ["type": "articles", "lid": "a", "relationship": "author"],
                        "data": ["type": "people", "id": "1"],
                    ],
                    ["op": "remove", "href": "/articles/1"],
                ]
            ], ["atomic:results": [["data": ["type": "articles", "id": "1"]], [:]]],
            [
                "meta": ["count": 1], "links": ["self": ["href": "/", "hreflang": ["en"]]],
                "jsonapi": ["version": "1.1", "ext": ["https://a"]],
            ],
        ]
    }

    /// Makes a document and puts it through everything there is to read with.
    mutating func round(_ outcome: inout Outcome) {
        var json = seeds[random.below(seeds.count)]
        for _ in 0...random.below(6) { mutate(&json, depth: 0) }
        if random.below(8) == 0, let bytes = try? json.serialized() {
            read(damaged(bytes), &outcome)
        } else {
            check(json, &outcome)
        }
    }

    private mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0...random.below(3) where !bytes.isEmpty {
            let place = random.below(bytes.count)
            switch random.below(3) {
            case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
            case 1: bytes.remove(at: place)
            default: bytes.removeSubrange(place...)
            }
        }
        return bytes
    }

    private func read(_ bytes: [UInt8], _ outcome: inout Outcome) {
        if let json = try? JSONValue(parsing: bytes) {
            check(json, &outcome)
            return
        }
        do throws(JSONAPIError) {
            _ = try JSONAPIDocument(parsing: bytes)
            outcome.findings.append("a document of bytes that are no JSON")
        } catch {
            outcome.unreadable += 1
            outcome.places += 1
            if error.pointer != .root { outcome.findings.append("a place in what is no JSON: \(error)") }
        }
    }

    private func check(_ json: JSONValue, _ outcome: inout Outcome) {
        let violations = JSONAPIDocument.violations(in: json)
        for violation in violations { check(violation, json, &outcome) }
        if violations.isEmpty { outcome.valid += 1 }
        compareTextWithTree(json, &outcome)
        do throws(JSONAPIError) {
            let document = try JSONAPIDocument(json)
            if (try? JSONAPIDocument(document.json)) != document {
                outcome.findings.append("not the same when read again: \(json)")
            }
            decode(document, &outcome)
        } catch {
            outcome.unreadable += 1
            check(error, json, &outcome)
            // The document as a whole is to blame only where it says nothing at all.
            if error.pointer == .root, json["data"] != nil { outcome.findings.append("no place: \(error) in \(json)") }
            if violations.isEmpty { outcome.findings.append("unreadable without a violation: \(json)") }
        }
    }

    /// Models decoded straight from a text are those of its tree, and so are the errors.
    private func compareTextWithTree(_ json: JSONValue, _ outcome: inout Outcome) {
        guard let bytes = try? json.serialized() else { return }
        func compare<Model: JSONAPIRelatable>(_ type: Model.Type) {
            let codec = JSONAPICodec()
            let list = described { try codec.decodeList(type, parsing: bytes) }
            let one = described { try codec.decodeIfPresent(type, parsing: bytes) }
            if list != described({ try codec.decodeList(type, from: JSONAPIDocument(json)) })
                || one != described({ try codec.decodeIfPresent(type, from: JSONAPIDocument(json)) })
            {
                outcome.findings.append("the text of \(json) is not read as its tree is: \(list), \(one)")
            }
        }
        compare(Article.self)
        compare(PlainArticle.self)
        compare(Subject.self)
    }

    private func described(_ body: () throws -> Any?) -> String {
        do { return "\(try body() as Any)" } catch { return "error: \(error)" }
    }

    /// A pointer leads to something, or to where something is missing.
    private func check(_ error: JSONAPIError, _ json: JSONValue, _ outcome: inout Outcome) {
        outcome.places += 1
        var pointer = JSONPointer.root
        for token in error.pointer.tokens.dropLast() { pointer = pointer.appending(token) }
        if pointer.value(in: json) == nil { outcome.findings.append("\(error) leads nowhere in \(json)") }
        if JSONPointer(error.pointer.text) != error.pointer { outcome.findings.append("no pointer: \(error.pointer)") }
    }

    private func decode(_ document: JSONAPIDocument, _ outcome: inout Outcome) {
        let codec = JSONAPICodec()
        let isDecoded = succeeds(&outcome) {
            if case .many? = document.data {
                _ = try codec.decodeList(Article.self, from: document)
                _ = try codec.decodeList(PlainArticle.self, from: document)
            } else {
                _ = try codec.decodeIfPresent(Subject.self, from: document)
                _ = try codec.decodeIfPresent(PlainArticle.self, from: document)
            }
        }
        if isDecoded { outcome.decoded += 1 } else { outcome.misfits += 1 }
        // Every document makes records; a record is a model or has a place that is wrong.
        let records = codec.records(of: document)
        for record in records.array ?? [records] where record.object != nil {
            _ = succeeds(&outcome) { _ = try codec.decode(PlainArticle.self, from: record) }
        }
    }

    /// Whether it succeeds; where not, it fails with a place.
    private func succeeds(_ outcome: inout Outcome, _ body: () throws -> Void) -> Bool {
        do {
            try body()
            return true
        } catch let error as JSONAPIError {
            outcome.places += 1
            if JSONPointer(error.pointer.text) != error.pointer || error.pointer == .root {
                outcome.findings.append("no place: \(error)")
            }
        } catch {
            outcome.findings.append("another error: \(error)")
        }
        return false
    }
}

extension DocumentFuzzer {
    /// Changes something at a random place.
    private mutating func mutate(_ json: inout JSONValue, depth: Int) {
        if depth > 0, random.below(4) == 0 {
            json = anything()
            return
        }
        switch json {
        case .object(var object):
            guard !object.isEmpty, random.below(8) > 0 else {
                object[names[random.below(names.count)]] = anything()
                json = .object(object)
                return
            }
            let key = object[random.below(object.count)].key
            switch random.below(6) {
            case 0: object[key] = nil
            case 1: object[names[random.below(names.count)]] = object[key]
            default: mutate(&object[key, default: .null], depth: depth + 1)
            }
            json = .object(object)
        case .array(var array):
            guard !array.isEmpty else {
                json = .array([anything()])
                return
            }
            let index = random.below(array.count)
            switch random.below(5) {
            case 0: array.remove(at: index)
            case 1: array.append(array[index])
            default: mutate(&array[index], depth: depth + 1)
            }
            json = .array(array)
        default: json = anything()
        }
    }

    private mutating func anything() -> JSONValue {
        switch random.below(12) {
        case 0: .null
        case 1: .bool(true)
        case 2: .integer(Int64(random.below(3)))
        case 3: .number(0.5)
        case 4: .array([])
        case 5: .object([:])
        case 6: .string("")
        case 7: .array([["type": "people", "id": "1"], ["type": "articles", "id": "2"]])
        case 8: ["type": "people", "id": "9"]
        case 9: ["data": ["type": "articles", "id": "1"]]
        case 10: .string(names[random.below(names.count)])
        default: .string(String(random.below(10)))
        }
    }
}

/// Random numbers that are the same in every run.
struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ limit: Int) -> Int {
        Int(next() % UInt64(limit))
    }
}
