import Foundation

/// The stored result, and the files generated from it: tables, charts and the README's section.
enum ResultFiles {
    /// The folder of the benchmarks' package.
    static let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
    static let result = folder.appending(path: "benchmarks.json")

    private static let folder = package.appending(path: "results", directoryHint: .isDirectory)
    private static let readme = package.appending(path: "../README.md").standardized
    private static let (begin, end) = ("<!-- benchmarks: made by Benchmarks --report -->", "<!-- /benchmarks -->")

    /// Writes all files generated from a result, and prints their paths.
    static func write(_ results: Results) throws {
        for (file, text) in try files(results) {
            try Data(text.utf8).write(to: file, options: .atomic)
            FileHandle.standardError.write(Data("Wrote \(file.path)\n".utf8))
        }
    }

    /// Checks that the generated files match a result.
    /// - Throws: ``ResultError``, which names the first file that doesn't match.
    static func check(_ results: Results) throws {
        for (file, text) in try files(results) where (try? String(contentsOf: file, encoding: .utf8)) != text {
            throw ResultError("'\(file.path)' does not match the stored result: run 'Benchmarks --report'")
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

    /// Returns the README with its benchmark section replaced.
    private static func replaced(in text: String, with part: String) throws -> String {
        guard let begin = text.range(of: begin), let end = text.range(of: end, range: begin.upperBound..<text.endIndex) else {
            throw ResultError("'\(readme.path)' has no benchmark section from '\(Self.begin)' to '\(Self.end)'")
        }
        return text.replacingCharacters(in: begin.upperBound..<end.lowerBound, with: "\n\(part)\n")
    }
}
