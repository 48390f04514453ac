import Foundation
import Testing

@Suite("The walk in the article about the design")
struct DesignArticleTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources")
        .standardizedFileURL

    private static let article = Result {
        try String(contentsOf: sources.appending(path: "../DESIGN.md"), encoding: .utf8)
    }

    /// What stands in backticks.
    private static func names(in text: Substring) -> [String] {
        text.matches(of: /`([^`]+)`/).map { String($0.1) }
    }

    /// The Swift files a cell names. A name without a folder is in the folder of the one before.
    private static func files(in cell: Substring) throws -> [URL] {
        var folder = sources
        var files: [URL] = []
        for name in names(in: cell) {
            let file = (name.contains("/") ? sources : folder).appending(path: name)
            guard !name.hasSuffix(".swift") else {
                folder = file.deletingLastPathComponent()
                files.append(file)
                continue
            }
            files += try FileManager.default.contentsOfDirectory(at: file, includingPropertiesForKeys: nil)
        }
        return files
    }

    @Test("Every function stands in a file that its line names")
    func functions() throws {
        var count = 0
        for line in try Self.article.get().split(separator: "\n") where line.hasPrefix("| ") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces)[...] }
            guard cells.count == 3, Int(cells[0]) != nil else { continue }
            let text = try Self.files(in: cells[2]).map { try String(contentsOf: $0, encoding: .utf8) }.joined()
            for name in Self.names(in: cells[1]) {
                guard !text.isEmpty, let dot = name.firstIndex(of: "."), name.first?.isUppercase == true else {
                    continue
                }
                let function = name[name.index(after: dot)...]
                #expect(["(", "<"].contains { text.contains("func \(function)\($0)") }, "no \(name) in \(cells[2])")
                count += 1
            }
        }
        #expect(count >= 25)
    }

    @Test("It needs at most 19 types and 15 calls each way, and the types are there")
    func types() throws {
        let article = try Self.article.get()
        var declared: Set<String> = []
        let declaration = /(?:struct|class|actor|enum|protocol) (\w+)/
        for path in try FileManager.default.subpathsOfDirectory(atPath: Self.sources.path)
        where path.hasSuffix(".swift") {
            let text = try String(contentsOf: Self.sources.appending(path: path), encoding: .utf8)
            for match in text.matches(of: declaration) { declared.insert(String(match.1)) }
        }
        let sums = article.components(separatedBy: "\n\n").filter { $0.hasPrefix("15 calls and 19 types: ") }
        try #require(sums.count == 2)
        for (sum, above) in zip(sums, [0, 6]) {
            let types = Self.names(in: sum.prefix { $0 != "." })
            #expect(types.count + above == 19)
            #expect(types.filter { !declared.contains($0) } == [])
        }
        for line in article.split(separator: "\n") {
            if let number = line.firstMatch(of: /^\| (?:\d+–)?(\d+) \|/), let number = Int(number.1) {
                #expect(number <= 15)
            }
        }
    }
}
