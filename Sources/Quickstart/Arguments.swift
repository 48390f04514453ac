import Foundation

/// What the command line asks for.
enum Arguments {
    case help
    /// Run on a server, or in memory where there is none.
    case run(server: URL?)

    static let usage = """
        Usage: swift run Quickstart [--url URL]

          --url URL   use the FeathersJS server at this address, which needs a service 'messages';
                      without it the messages are kept in memory and no server is needed
          --help      show this help

        Exit codes: 0 done, 64 wrong arguments, 69 the server can not be reached, 1 anything else.
        """

    /// What is wrong with the command line.
    struct Mistake: Error, CustomStringConvertible {
        let description: String
    }

    init(_ arguments: ArraySlice<String>) throws {
        var server: URL?
        var rest = arguments
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h":
                self = .help
                return
            case "--url":
                guard let text = rest.popFirst() else { throw Mistake(description: "'--url' needs an address behind it.") }
                server = try Self.server(text)
            case _ where argument.hasPrefix("--url="):
                server = try Self.server(String(argument.dropFirst("--url=".count)))
            default:
                throw Mistake(description: "Unknown argument '\(argument)'.")
            }
        }
        self = .run(server: server)
    }

    private static func server(_ text: String) throws -> URL {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host?.isEmpty == false else {
            throw Mistake(description: "'\(text)' is no address of a server; one looks like http://localhost:3030.")
        }
        return url
    }
}
