import FeathersCore
import FeathersJSONAPI
import Testing

@Suite("JSON Pointers", .timeLimit(.minutes(10)))
struct JSONPointerTests {
    /// The document of RFC 6901, section 5.
    private let document: JSONValue = [
        "foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8,
    ]

    @Test(
        "find what the RFC says",
        arguments: [
            ("/foo", ["bar", "baz"]), ("/foo/0", "bar"), ("/", 0), ("/a~1b", 1), ("/c%d", 2), ("/e^f", 3), ("/g|h", 4),
            ("/i\\j", 5),
            ("/k\"l", 6),
            ("/ ", 7), ("/m~0n", 8), ("/foo/2", nil), ("/foo/01", nil), ("/foo/-", nil), ("/nope", nil),
            ("/foo/0/x", nil),
        ] as [(String, JSONValue?)])
    func values(text: String, value: JSONValue?) throws {
        #expect(try #require(JSONPointer(text)).value(in: document) == value)
    }

    @Test("the empty one is the whole, and keys are escaped")
    func building() {
        #expect(JSONPointer.root.value(in: document) == document)
        #expect(JSONPointer.root.appending("a/b~c").appending(3).text == "/a~1b~0c/3")
        #expect(JSONPointer.root.appending("a/b~c").appending("").tokens == ["a/b~c", ""])
    }

    @Test("what is none is refused", arguments: ["a", "/a~", "/~2", "/a~/b"])
    func refused(text: String) {
        #expect(JSONPointer(text) == nil)
    }
}

extension JSONPointer {
    /// The value at this location, or nil if there is none.
    func value(in json: JSONValue) -> JSONValue? {
        tokens.reduce(json as JSONValue?) { value, token in
            switch value {
            case .object(let object)?: object[token]
            case .array?: Int(token).flatMap { String($0) == token ? value?[$0] : nil }
            default: nil
            }
        }
    }
}
