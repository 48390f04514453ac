import Foundation
import TestBackend
import Testing

@testable import MistakeTable

@Suite("The article about common mistakes", .serialized, .timeLimit(.minutes(10)))
struct MistakesTests {
    @Test(
        "Its table is what the mistakes print; `swift run MistakeTable --write` renews it", .inTurn,
        .enabled(if: !TestBackend.isSkipped))
    func table() async throws {
        let printed = try await Mistake.table().split(separator: "\n")
        let kept = try MistakesArticle.table().split(separator: "\n")
        for (printed, kept) in zip(printed, kept) { #expect(printed == kept) }
        #expect(printed.count == kept.count && printed.count > 30)
    }

    @Test("What it shows as written stands in the code that makes the mistake")
    func code() throws {
        let folder = MistakesArticle.package.appending(path: "Tests")
        let names = try ["Programs/MistakeTable", "Support/Refusals"].flatMap { name in
            try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: name).path).map {
                "\(name)/\($0)"
            }
        }
        let lines = try names.filter { $0.hasSuffix(".swift") }.flatMap {
            try String(contentsOf: folder.appending(path: $0), encoding: .utf8).components(separatedBy: "\n")
        }
        for mistake in try Mistake.all() {
            for code in mistake.code.components(separatedBy: "; ") {
                let isWritten = lines.contains { line in
                    line.contains(code) && !line.contains("\"\(code)") && !line.contains("; \(code)")
                        && !line.hasPrefix("// code:")
                }
                #expect(isWritten, "\(mistake.name): \(code)")
            }
        }
    }

    @Test("Every snippet that must not compile is documented")
    func refusals() throws {
        let refusals = try Refusal.all()
        #expect(refusals.count > 5)
        for refusal in refusals { #expect(try refusal.articleText().contains(refusal.message), "\(refusal.message)") }
    }
}
