import Foundation

/// A snippet in Tests/Support/Refusals, which the compiler refuses; `.ci/refusals` compiles it.
struct Refusal {
    /// The mistake; nil if the table leaves it out.
    let mistake: String?
    /// The article that documents it.
    let article: String
    /// What the compiler says.
    let message: String
    /// The line that does not compile, where one of them says so with `// code:`, else the one after `// fix:`.
    let code: String

    init(_ text: String) throws {
        let lines = text.split(separator: "\n")
        func note(_ name: String) -> String? {
            let note = "// \(name): "
            return lines.first { $0.hasPrefix(note) }.map { String($0.dropFirst(note.count)) }
        }
        let fix = lines.firstIndex { $0.trimmingCharacters(in: .whitespaces).hasPrefix("// fix: ") }
        let wrong = note("code") ?? fix.map { lines[min($0 + 1, lines.count - 1)].trimmingCharacters(in: .whitespaces) }
        guard let message = note("expect"), let article = note("article"), let wrong else { throw NotAMistake() }
        (self.message, self.article, mistake) = (message, article, note("mistake"))
        code = wrong
    }

    /// The text of the article.
    func articleText() throws -> String {
        let folder = MistakesArticle.package.appending(path: "Sources/Feathers/Documentation.docc")
        return try String(contentsOf: folder.appending(path: article), encoding: .utf8)
    }

    /// All of them, by the names of their files.
    static func all() throws -> [Refusal] {
        let folder = MistakesArticle.package.appending(path: "Tests/Support/Refusals")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
            .sorted()
        return try names.map { try Refusal(String(contentsOf: folder.appending(path: $0), encoding: .utf8)) }
    }
}

extension Mistake {
    /// Mistakes that do not compile.
    static func refusals() throws -> [Mistake] {
        try Refusal.all().compactMap { refusal in
            refusal.mistake.map { Mistake($0, refusal.code) { _ in "error: \(refusal.message)" } }
        }
    }
}
