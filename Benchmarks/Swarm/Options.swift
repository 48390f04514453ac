import Feathers
import Foundation

/// The command line.
struct Options {
    struct Problem: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = "\(description). See 'Swarm --help'." }
    }

    private(set) var url = URL(filePath: "/")
    private(set) var clients = 0
    /// The number of readers of one connection; 0 to connect many clients.
    private(set) var readers = 0
    private(set) var usesREST = false
    private(set) var service = "messages"
    private(set) var method = ServiceMethod.create
    private(set) var callers = Int.max
    private(set) var calls = 10
    private(set) var interval = Duration.seconds(1)
    private(set) var email: String?
    private(set) var password = ""
    private(set) var atOnce = 64
    private(set) var timeout = Duration.seconds(10)
    private(set) var showsHelp = false
    /// Distinguishes the records of this run from others.
    let run = UUID().uuidString

    static let help = """
        Usage: swift run -c release --package-path Benchmarks Swarm --url URL --clients N [options]

        Connects N clients in this process to a Feathers server. Each of them makes calls at a steady pace, and \
        listens for the records
        that are created. At the end, prints the percentiles of the calls, and of the delivery of events.

        With '--readers' instead of '--clients', one client has N readers of its events, as a server process does, and \
        another one
        creates records, at a rate that doubles until a reader falls behind or the server takes no more.

          --url URL           the server, for example http://localhost:3030
          --clients N         the number of clients
          --readers N         the number of readers of one connection
          --transport T       'socketio' (default) or 'rest', which has no events
          --service PATH      the service that is called (default: messages)
          --method M          'create' (default) or 'find'
          --callers N         how many of the clients make calls (default: all)
          --calls N           the number of calls of each (default: 10)
          --every MS          the milliseconds from one call to the next (default: 1000)
          --email, --password the clients sign in; <client> in the email address is replaced with the client's number
          --at-once N         how many clients connect at the same time (default: 64)
          --timeout S         the seconds after which a call fails, and that events may take (default: 10)

        Exit status: 0 if every call succeeded and every event arrived, 1 if not, 64 for a wrong command line.
        """

    init(_ words: [String]) throws {
        var words = words[...]
        while let word = words.popFirst() {
            func value() throws -> String {
                guard let value = words.popFirst(), !value.hasPrefix("--") else {
                    throw Problem("'\(word)' needs a value")
                }
                return value
            }
            func count() throws -> Int {
                guard let count = Int(try value()), (1...1_000_000).contains(count) else {
                    throw Problem("'\(word)' needs a whole number from 1 to 1000000")
                }
                return count
            }
            func choice(_ choices: [String]) throws -> String {
                let value = try value()
                guard choices.contains(value) else {
                    throw Problem("'\(word)' is one of \(choices.joined(separator: ", "))")
                }
                return value
            }
            switch word {
            case "--help", "-h": showsHelp = true
            case "--url":
                guard let url = URL(string: try value()), url.host() != nil else {
                    throw Problem("'--url' needs the URL of a server")
                }
                self.url = url
            case "--clients": clients = try count()
            case "--readers": readers = try count()
            case "--transport": usesREST = try choice(["socketio", "rest"]) == "rest"
            case "--service": service = try value()
            case "--method": method = ServiceMethod(rawValue: try choice(["create", "find"]))
            case "--callers": callers = try count()
            case "--calls": calls = try count()
            case "--every": interval = .milliseconds(try count())
            case "--email": email = try value()
            case "--password": password = try value()
            case "--at-once": atOnce = try count()
            case "--timeout": timeout = .seconds(try count())
            default: throw Problem("Unknown argument '\(word)'")
            }
        }
        callers = min(callers, clients)
        guard showsHelp || (url.host() != nil && (clients > 0) != (readers > 0)) else {
            throw Problem("'--url' and either '--clients' or '--readers' are required")
        }
    }

    var expectsEvents: Bool { !usesREST && method == .create }

    /// The number of file descriptors: one for each connection, a few for each connection that is being opened, and
    /// those of the process.
    var filesNeeded: Int { (usesREST ? min(clients, 1024) : clients) + 8 * min(atOnce, clients) + 64 }
}
