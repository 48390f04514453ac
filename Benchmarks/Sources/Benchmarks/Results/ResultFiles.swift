import Foundation

/// The stored result, and what is generated from it: the page with all tables, the README's section, and the plot in the
/// documentation.
enum ResultFiles {
    /// The folder of the benchmarks' package.
    static let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
    static let result = package.appending(path: "results/benchmarks.json")

    private static let (page, readme) = (
        package.appending(path: "results/benchmarks.md"), package.appending(path: "../README.md").standardized
    )
    private static let plots = package.appending(path: "../Sources/Feathers/Documentation.docc/Resources").standardized
    private static let (begin, end) = ("<!-- benchmarks: made by Benchmarks --report -->", "<!-- /benchmarks -->")

    /// Writes what is generated from a result.
    static func write(_ results: Results) throws {
        for (file, text) in try files(results) { try Data(text.utf8).write(to: file, options: .atomic) }
    }

    /// Checks that the generated files match a result.
    /// - Throws: ``ResultError``, which names the first file that doesn't match.
    static func check(_ results: Results) throws {
        for (file, text) in try files(results) where (try? String(contentsOf: file, encoding: .utf8)) != text {
            throw ResultError("'\(file.path)' does not match the stored result: run 'Benchmarks --report'")
        }
    }

    private static func files(_ results: Results) throws -> [(URL, String)] {
        let text = try String(contentsOf: readme, encoding: .utf8)
        guard let begin = text.range(of: begin), let end = text.range(of: end, range: begin.upperBound..<text.endIndex)
        else {
            throw ResultError("'\(readme.path)' has no benchmark section from '\(Self.begin)' to '\(Self.end)'")
        }
        let section = "\n\(Pages.readme(of: results))\n"
        let plot = Story.plot(of: results)
        return Plot.Appearance.allCases.map {
            (plots.appending(path: "peers\($0.suffix).svg"), plot.svg($0))
        } + [
            (page, Pages.whole(of: results)),
            (readme, text.replacingCharacters(in: begin.upperBound..<end.lowerBound, with: section)),
        ]
    }
}
