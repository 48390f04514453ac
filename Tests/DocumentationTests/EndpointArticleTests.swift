import Foundation
import Testing

@Suite("The article about endpoints")
struct EndpointArticleTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    /// The lines of a text that say something, without their indentation.
    private static func lines(_ text: String) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }.joined(
            separator: "\n")
    }

    @Test("Every sample stands in a file that is compiled")
    func compiled() throws {
        let article = try String(
            contentsOf: Self.folder.appending(path: "../../Sources/Feathers/Documentation.docc/Endpoints.md"),
            encoding: .utf8)
        let source = Self.lines(
            try String(contentsOf: Self.folder.appending(path: "EndpointSamples.swift"), encoding: .utf8))
        let samples = article.split(separator: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        #expect(samples.count >= 7)
        for sample in samples {
            #expect(source.contains(Self.lines(sample)), "not in EndpointSamples.swift:\n\(sample)")
        }
    }
}
