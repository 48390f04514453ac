import FeathersCore
import Testing

@testable import FeathersSync

@Suite("Errors as an outbox keeps them")
struct StoredErrorTests {
    private static let large = JSONValue.string(String(repeating: "x", count: 64 * 1024))

    @Test("What is small is kept as it is")
    func small() {
        var error = FeathersError(.conflict, "Somebody was faster", data: ["version": 3], errors: ["text": "old"])
        error.response = FeathersError.Response(status: 409, body: [1, 2])
        let stored = error.stored()
        #expect(stored.data == error.data && stored.errors == error.errors && stored.response == error.response)
        #expect(stored.message == error.message && stored.name == error.name && stored.className == error.className)
    }

    @Test("What is too large is left out, also of the cause, and the message says so")
    func large() {
        var error = FeathersError(
            .conflict, "No", data: Self.large, errors: ["text": "old"],
            cause: FeathersError(.conflict, "Why", data: Self.large))
        error.response = FeathersError.Response(status: 409, body: Array(repeating: 0, count: 1 << 20))
        let stored = error.stored()
        #expect(stored.data == nil && stored.response == nil && stored.errors == ["text": "old"])
        #expect(stored.message == "No (too large to store: data, response)")
        #expect((stored.cause as? FeathersError)?.message == "Why (too large to store: data)")
    }

    @Test("All parts together have one limit, and what JSON cannot express is too large")
    func together() {
        let half = JSONValue.string(String(repeating: "x", count: 40 * 1024))
        let stored = FeathersError(.conflict, "No", data: half, errors: half).stored()
        #expect(stored.errors == half && stored.data == nil)
        #expect(FeathersError(.conflict, "No", data: .number(.nan)).stored().message == "No (too large to store: data)")
    }

    @Test("Texts are cut, and stay the same from then on")
    func texts() throws {
        var error = FeathersError(.conflict, String(repeating: "\u{1}", count: 100_000), data: Self.large)
        // One character, however many combining marks it has.
        (error.name, error.className) = (
            "e" + String(repeating: "\u{301}", count: 100_000), String(repeating: "x", count: 100_000)
        )
        let stored = error.stored()
        #expect(stored.message.unicodeScalars.count == 1000)
        #expect(stored.message.hasSuffix("… (too large to store: data)"))
        #expect(try stored.wireForm.serialized().count < 8 * 1024)
        let again = stored.stored()
        #expect(again.message == stored.message && again.name == stored.name && again.className == stored.className)
    }
}
