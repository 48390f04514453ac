import Foundation
import Testing

@Suite("The articles' names")
struct ArticleNameTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources")
        .standardizedFileURL

    /// The files below a folder whose names end so.
    private static func files(_ suffix: String, below folder: URL) throws -> [URL] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(suffix) }.map {
            folder.appending(path: $0)
        }
    }

    /// The articles; pages that extend a module's own begin with its symbol.
    private static func articles() throws -> [String] {
        try files(".md", below: sources.appending(path: "Feathers/Documentation.docc"))
            .filter { try !String(contentsOf: $0, encoding: .utf8).hasPrefix("# ``") }
            .map { $0.deletingPathExtension().lastPathComponent }
    }

    @Test("are no type's: both would have one page, and DocC gives it to the type without a word")
    func unique() throws {
        let declaration = /^public (?:final )?(?:struct|class|actor|enum|protocol|typealias) (\w+)/
            .anchorsMatchLineEndings()
        var types: Set<String> = []
        for file in try Self.files(".swift", below: Self.sources) {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: declaration) { types.insert(String(match.1)) }
        }
        #expect(
            types.isSuperset(of: ["FeathersApp", "Service", "Hooks", "Query", "Hook", "ServiceProtocol", "CachePolicy"])
        )
        let articles = try Self.articles()
        #expect(articles.count > 20)
        #expect(articles.filter(types.contains) == [])
    }

    @Test("stand in the list of articles, each once")
    func listed() throws {
        let list = try String(
            contentsOf: Self.sources.appending(path: "Feathers/Documentation.docc/Feathers.md"), encoding: .utf8)
        let listed = list.matches(of: /<doc:(\w+)>/).map { String($0.1) }
        #expect(listed.sorted() == (try Self.articles().sorted()))
    }
}
