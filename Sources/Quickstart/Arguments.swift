import Foundation

/// What the command line asks for.
enum Arguments: Equatable {
    case help
    /// Run on a server, or in memory where there is none.
    case run(server: URL?, transport: ServerTransport, account: Account?)

    static let usage = """
        Usage: swift run Quickstart [--url URL [--transport rest|socketio] [--email EMAIL --password PASSWORD]]

          --url URL         use the FeathersJS server at this address, which needs a service 'messages';
                            without it the messages are kept in memory and no server is needed
          --transport NAME  how to reach the server: 'rest', which is what happens unless said, or
                            'socketio', over which the server itself pushes the events
          --email EMAIL     sign in first, with the server's strategy 'local'; needs '--password' too
          --password PW     what goes with the e-mail address; other users of this machine may see it
          --help            show this help

        Exit codes: 0 done, 64 wrong arguments, 69 the server cannot be reached, 77 it refuses the sign-in, 1 anything else.
        """

    /// What is wrong with the command line.
    struct Mistake: Error, CustomStringConvertible {
        let description: String
    }

    init(_ arguments: some Sequence<String>) throws {
        var server: URL?
        var transport: ServerTransport?
        var (email, password): (String?, String?)
        var rest = ArraySlice(Array(arguments))
        while let argument = rest.popFirst() {
            // `--name=value` is `--name value`.
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            func value() throws -> String {
                if parts.count == 2 { return parts[1] }
                guard let next = rest.popFirst() else { throw Mistake(description: "'\(argument)' needs a value behind it.") }
                return next
            }
            switch parts.first ?? argument {
            case "--help", "-h":
                self = .help
                return
            case "--url": server = try Self.server(value())
            case "--transport": transport = try Self.transport(value())
            case "--email": email = try value()
            case "--password": password = try value()
            // What stands behind the name may be a password.
            case let name where parts.count == 2: throw Mistake(description: "Unknown argument '\(name)'.")
            default: throw Mistake(description: "Unknown argument '\(argument)'.")
            }
        }
        guard server != nil || transport == nil else {
            throw Mistake(description: "'--transport' says how to reach a server, and '--url' does not name one.")
        }
        self = .run(server: server, transport: transport ?? .rest, account: try Self.account(email, password, on: server))
    }

    /// What was given is never repeated: it may be the password.
    private static func account(_ email: String?, _ password: String?, on server: URL?) throws -> Account? {
        switch (email, password) {
        case (nil, nil): return nil
        case (_, nil): throw Mistake(description: "'--email' needs '--password' beside it.")
        case (nil, _): throw Mistake(description: "'--password' needs '--email' beside it.")
        case (let email?, let password?):
            guard server != nil else { throw Mistake(description: "'--email' signs in to a server, and '--url' does not name one.") }
            return Account(email: email, password: password)
        }
    }

    private static func transport(_ text: String) throws -> ServerTransport {
        guard let transport = ServerTransport(rawValue: text) else {
            throw Mistake(description: "'\(text)' is no transport; there are \(ServerTransport.names).")
        }
        return transport
    }

    private static func server(_ text: String) throws -> URL {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host?.isEmpty == false else {
            throw Mistake(description: "'\(text)' is no address of a server; one looks like http://localhost:3030.")
        }
        return url
    }
}
