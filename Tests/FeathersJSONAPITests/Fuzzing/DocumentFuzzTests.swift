import TestBackend
import Testing

@Suite("Documents made up at random", .timeLimit(.minutes(30)))
struct DocumentFuzzTests {
    private static let documents = Environment.count ?? 5_000

    @Test("are read or refused with a place, and never anything else")
    func mutated() async throws {
        var fuzzer = try DocumentFuzzer(seed: Environment.seed ?? 0x5EED)
        var outcome = DocumentFuzzer.Outcome()
        while outcome.total < Self.documents, outcome.findings.isEmpty {
            for _ in 0..<100 { fuzzer.round(&outcome) }
            // Other suites measure time.
            await Task.yield()
        }
        if Environment.count != nil {
            print(
                "\(outcome.total) documents: \(outcome.unreadable) unreadable,",
                "\(outcome.decoded) models, \(outcome.misfits) misfits;",
                "\(outcome.valid) keep to the specification;",
                "\(outcome.places) errors with their places, \(outcome.findings.count) findings")
        }
        #expect(outcome.findings == [])
        // All ways of ending were seen often, or the documents are not worth their name.
        #expect(outcome.unreadable > Self.documents / 20)
        #expect(outcome.valid > Self.documents / 50)
        #expect(outcome.decoded > Self.documents / 20)
        #expect(outcome.misfits > Self.documents / 20)
        #expect(outcome.places > Self.documents)
    }
}
