import Foundation

/// What is kept of a result and made of it: the numbers, their tables and charts, the README's part.
enum ResultFiles {
    /// The benchmarks' package.
    static let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
    static let result = folder.appending(path: "benchmarks.json")

    private static let folder = package.appending(path: "results", directoryHint: .isDirectory)
    private static let readme = package.appending(path: "../README.md").standardized
    private static let (begin, end) = ("<!-- benchmarks: made by Benchmarks --report -->", "<!-- /benchmarks -->")

    /// Writes all that is made of a result, and says what.
    static func write(_ results: Results) throws {
        for (file, text) in try files(results) {
            try Data(text.utf8).write(to: file, options: .atomic)
            FileHandle.standardError.write(Data("Wrote \(file.path)\n".utf8))
        }
    }

    /// - Throws: ``ResultError`` naming the first file that is not what is made of the result.
    static func check(_ results: Results) throws {
        for (file, text) in try files(results) where (try? String(contentsOf: file, encoding: .utf8)) != text {
            throw ResultError("\(file.path) is not made of the kept result: run 'Benchmarks --report'")
        }
    }

    private static func files(_ results: Results) throws -> [(URL, String)] {
        [
            (folder.appending(path: "benchmarks.md"), Pages(results).whole),
            (folder.appending(path: "benchmarks.svg"), RatioChart(Story(results)).svg),
            (folder.appending(path: "growth.svg"), GrowthChart(results).svg),
            (readme, try replaced(in: String(contentsOf: readme, encoding: .utf8), with: Pages(results).readme)),
        ]
    }

    /// The README with its part about benchmarks made anew.
    private static func replaced(in text: String, with part: String) throws -> String {
        guard let begin = text.range(of: begin), let end = text.range(of: end, range: begin.upperBound..<text.endIndex) else {
            throw ResultError("\(readme.path) has no place for the benchmarks, from '\(Self.begin)' to '\(Self.end)'")
        }
        return text.replacingCharacters(in: begin.upperBound..<end.lowerBound, with: "\n\(part)\n")
    }
}
