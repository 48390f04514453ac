import Foundation

/// The article that holds the table.
enum MistakesArticle {
    /// The text between the markers is missing.
    struct WithoutTable: Error {}

    static let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        .standardizedFileURL
    private static let file = package.appending(path: "Sources/Feathers/Documentation.docc/Mistakes.md")
    private static let begin = "<!-- mistakes: printed by MistakeTable -->\n\n"
    private static let end = "\n<!-- /mistakes -->"

    /// The article's table.
    static func table() throws -> String {
        let text = try String(contentsOf: file, encoding: .utf8)
        return String(text[try range(in: text)])
    }

    /// Replaces the article's table.
    static func write(_ table: String) throws {
        var text = try String(contentsOf: file, encoding: .utf8)
        text.replaceSubrange(try range(in: text), with: table)
        try text.write(to: file, atomically: true, encoding: .utf8)
    }

    private static func range(in text: String) throws -> Range<String.Index> {
        guard let begin = text.firstRange(of: begin), let end = text[begin.upperBound...].firstRange(of: end) else {
            throw WithoutTable()
        }
        return begin.upperBound..<end.lowerBound
    }
}
