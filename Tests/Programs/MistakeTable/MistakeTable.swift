import Foundation

/// Makes each mistake of the article "Common mistakes" for real, and prints the article's table.
///
///     MistakeTable            prints the table
///     MistakeTable --write    writes it into the article
@main
struct MistakeTable {
    static func main() async throws {
        let table = try await Mistake.table()
        switch Array(CommandLine.arguments.dropFirst()) {
        case []: print(table, terminator: "")
        case ["--write"]: try MistakesArticle.write(table)
        default:
            FileHandle.standardError.write(Data("usage: MistakeTable [--write]\n".utf8))
            exit(64)
        }
    }
}
