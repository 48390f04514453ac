import Feathers
import Foundation
import TestBackend

/// A mistake that beginners make.
struct Mistake: Sendable {
    let name: String
    /// What is written, as it stands in the source of `outcome`; a semicolon and a space separate lines.
    let code: String
    /// Makes the mistake and returns what is printed. The parameter is the URL of the test backend.
    let outcome: @Sendable (URL) async throws -> String

    init(_ name: String, _ code: String, _ outcome: @escaping @Sendable (URL) async throws -> String) {
        (self.name, self.code, self.outcome) = (name, code, outcome)
    }
}

extension Mistake {
    /// All mistakes, in the order of the table.
    static func all() throws -> [Mistake] {
        try addresses + connections + accounts + paths + records + relations + lists + drafts + refusals() + methods
            + events
    }

    /// The table, as Markdown.
    static func table() async throws -> String {
        let server = try await TestBackend.url()
        var lines = ["| mistake | what is printed |", "| --- | --- |"]
        for mistake in try all() {
            let printed = stable(try await mistake.outcome(server), server)
            lines.append("| \(mistake.name): \(inCode(mistake.code)) | \(inCode(printed)) |")
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// The text with the address of a FeathersJS server in its documentation in place of the test backend's.
    private static func stable(_ text: String, _ server: URL) -> String {
        let host = server.host() ?? "127.0.0.1"
        let place = host + (server.port.map { ":\($0)" } ?? "")
        return text.replacing(place, with: "localhost:3030").replacing(closedPort, with: "localhost:3030").replacing(
            "\n", with: " ")
    }

    /// The text as code in a cell of a table. DocC takes code between several backticks for a symbol link, so that
    /// backticks become quotes.
    private static func inCode(_ text: String) -> String {
        "`" + text.replacing("`", with: "'").replacing("|", with: #"\|"#) + "`"
    }
}
