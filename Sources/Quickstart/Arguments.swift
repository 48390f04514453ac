import Foundation

/// The parsed command line.
enum Arguments: Equatable {
    case help
    /// Run on a server, or in memory if there is none.
    case run(server: URL?, transport: ServerTransport, account: Account?)

    static let usage = """
        Usage: swift run Quickstart [--url URL [--transport rest|socketio] [--email EMAIL --password PASSWORD]]

          --url URL         use the FeathersJS server at this URL, which needs a service 'messages';
                            by default, messages are kept in memory and no server is needed
          --transport NAME  how to reach the server: 'rest', which is the default, or
                            'socketio', over which the server pushes events
          --email EMAIL     sign in first, with the server's strategy 'local'; requires '--password'
          --password PW     the password for the email address; visible to other users of this machine
          --help            show this help

        Exit codes: 0 success, 64 invalid arguments, 69 the server cannot be reached, 70 other errors.
        """

    /// An error in the command line.
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
                guard let next = rest.popFirst() else { throw Mistake(description: "'\(argument)' requires a value.") }
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
            // The value after the name may be a password.
            case let name where parts.count == 2: throw Mistake(description: "Unknown argument '\(name)'.")
            default: throw Mistake(description: "Unknown argument '\(argument)'.")
            }
        }
        guard server != nil || transport == nil else {
            throw Mistake(description: "'--transport' requires the URL of a server: add '--url'.")
        }
        self = .run(
            server: server, transport: transport ?? .rest, account: try Self.account(email, password, on: server))
    }

    /// The messages never include the given values, which may contain the password.
    private static func account(_ email: String?, _ password: String?, on server: URL?) throws -> Account? {
        switch (email, password) {
        case (nil, nil): return nil
        case (_, nil): throw Mistake(description: "'--email' requires '--password'.")
        case (nil, _): throw Mistake(description: "'--password' requires '--email'.")
        case (let email?, let password?):
            guard server != nil else {
                throw Mistake(description: "'--email' requires the URL of a server: add '--url'.")
            }
            return Account(email: email, password: password)
        }
    }

    private static func transport(_ text: String) throws -> ServerTransport {
        guard let transport = ServerTransport(rawValue: text) else {
            throw Mistake(description: "'\(text)' is not a transport. The transports are \(ServerTransport.names).")
        }
        return transport
    }

    private static func server(_ text: String) throws -> URL {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host?.isEmpty == false else {
            throw Mistake(description: "'\(text)' is not the URL of a server. Use a URL like 'http://localhost:3030'.")
        }
        return url
    }
}
