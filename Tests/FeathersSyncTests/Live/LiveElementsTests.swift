import FeathersCore
import Testing

@testable import FeathersSync

@Suite("The elements of a live query")
struct LiveElementsTests {
    /// What is shown, by the letters of its records; a record's version is that of its letter.
    private static func entries(_ letters: String) -> ArraySlice<LiveWindow.Entry> {
        // Behind others, as a slice may be.
        let entries = ("??" + letters).unicodeScalars.map { letter in
            LiveWindow.Entry(key: String(letter), record: .string(String(letter)), version: Int(letter.value))
        }
        return entries[2...]
    }

    @Test(
        "What is shown is what was asked for, and only what is new is made",
        arguments: [
            ("", "abc", "abc"), ("abc", "", ""), ("abc", "abxc", "x"), ("abc", "xabc", "x"), ("abc", "abcx", "x"), ("abc", "ac", ""),
            ("abc", "bc", ""), ("abc", "ab", ""), ("abc", "axc", "x"), ("abcd", "adbc", ""), ("abcd", "dcba", ""), ("abcde", "xecay", "xy"),
        ])
    func showing(first: String, second: String, new: String) throws {
        var shown = LiveElements<String>()
        _ = try shown.show(Self.entries(first)) { $0.record.string ?? "" }
        var made = ""
        let difference = try shown.show(Self.entries(second)) { entry in
            made += entry.record.string ?? ""
            return entry.record.string ?? ""
        }
        #expect(difference != nil)
        #expect(shown.elements.joined() == second)
        #expect(made == new)
        #expect(shown.keys.joined() == second)
    }

    @Test("The first result is news, even an empty one; the same once more is none", arguments: ["", "a", "abc"])
    func same(letters: String) throws {
        var shown = LiveElements<String>()
        #expect(try shown.show(Self.entries(letters)) { $0.record.string ?? "" } != nil)
        #expect(try shown.show(Self.entries(letters)) { $0.record.string ?? "" } == nil)
    }

    @Test("What cannot be made changes nothing")
    func failing() throws {
        var shown = LiveElements<String>()
        _ = try shown.show(Self.entries("abc")) { $0.record.string ?? "" }
        #expect(throws: FeathersError.self) {
            try shown.show(Self.entries("axbc")) { _ in throw FeathersError(.badRequest, "no") }
        }
        #expect(shown.elements == ["a", "b", "c"])
        #expect(shown.versions?.count == 3)
    }
}
