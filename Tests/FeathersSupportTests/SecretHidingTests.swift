import FeathersSupport
import Testing

@Suite("Hiding secrets")
struct SecretHidingTests {
    private struct Unique: ~Copyable, Sendable { let secret = "s3cr3t" }

    private struct Plain: Sendable { let secret = "s3cr3t" }

    private struct Silent: SecretHiding, Sendable { let secret = "s3cr3t" }

    private struct Own: SecretHiding, Sendable {
        let secret = "s3cr3t"
        var description: String { "of its own" }
    }

    private func texts(_ value: any Sendable) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return ["\(value)", String(describing: value), String(reflecting: value), dumped]
    }

    @Test("A lock shows nothing of its value, also where that cannot be copied")
    func locks() {
        for text in texts(Locked(Unique())) + texts(Locked(Plain())) {
            #expect(text.contains("Locked") && !text.contains("s3cr3t"))
        }
    }

    @Test("A type shows its name or its own description, in every way of printing")
    func descriptions() {
        for text in texts(Silent()) { #expect(text.contains("Silent") && !text.contains("s3cr3t")) }
        for text in texts(Own()) { #expect(text.contains("of its own") && !text.contains("s3cr3t")) }
    }

    @Test("Inside another description, a type that hides nothing is its name")
    func nested() {
        #expect(summarize(Plain()) == "Plain")
        #expect(summarize(Own()) == "of its own")
    }
}
