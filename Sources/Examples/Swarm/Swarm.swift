import Feathers
import Foundation

/// `Swarm --url <server> --clients <n> --script <file>` lets many clients act on a Feathers server at once, and says how long it took them.
@main
enum Swarm {
    static func main() async {
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            guard !options.showsHelp else { return print(Options.help) }
            let script = try Script(contentsOf: options.script, overREST: options.usesREST)
            try FileLimit.raise(to: options.filesNeeded)
            exit(try await run(script, options) ? 0 : 1)
        } catch let error as SwarmError {
            write("\(error.message)\n")
            exit(error.status)
        } catch {
            write("\(error)\n")
            exit(1)
        }
    }

    /// Runs all clients, until they have finished or a signal arrives.
    /// - Returns: Whether every step of every client was taken and succeeded.
    private static func run(_ script: Script, _ options: Options) async throws -> Bool {
        let tally = Tally(script, clients: options.clients)
        let meetings = script.lines.map { line in Meeting(of: min(line.clients ?? .max, options.clients)) }
        let (openings, http) = (Slots(options.atOnce), PlatformHTTPClient.make())
        let signals = ProcessSignal.received()
        let clients = try (1...options.clients).map { number in
            let transport: any Transport =
                options.usesREST
                ? .rest(options.url, timeout: options.timeout, httpClient: http)
                : .socketIO(options.url) { ($0.transports, $0.callTimeout) = ([.webSocket], options.timeout) }
            return try SwarmClient(number, FeathersApp(transport: transport), script, tally, meetings, openings)
        }
        let isComplete = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await withTaskGroup(of: Void.self) { group in
                    for client in clients { group.addTask { await client.run() } }
                }
                return true
            }
            group.addTask {
                for await _ in signals { break }
                return false
            }
            group.addTask {
                await tally.showProgress()
                return false
            }
            defer { group.cancelAll() }
            // Progress never ends by itself.
            return await group.next() ?? false
        }
        print(tally.table)
        if let file = options.svg { try Data(Chart(tally.rows).svg.utf8).write(to: URL(filePath: file)) }
        return isComplete && tally.failures.isEmpty
    }

    static func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}

/// What ends the program before it starts, with its exit status.
struct SwarmError: Error {
    var status: Int32
    var message: String
}

/// The command line.
struct Options {
    var url = URL(filePath: "/")
    var clients = 0
    var script = ""
    var usesREST = false
    var atOnce = 64
    var timeout = Duration.seconds(10)
    var svg: String?
    var showsHelp = false

    static let help = """
        Usage: swift run -c release Swarm --url URL --clients N --script FILE [--transport socketio|rest] [--at-once N]
               [--timeout SECONDS] [--svg FILE]

          --url URL        the Feathers server, for example http://localhost:3030
          --clients N      the number of clients, all in this process
          --script FILE    what each client does, see below
          --transport T    'socketio' (default) or 'rest', which has no events
          --at-once N      how many clients connect at the same time (default: 64)
          --timeout S      the seconds after which a call fails (default: 10)
          --svg FILE       draw the percentiles into a file

        A script has one step a line. Each client takes the steps in order. Text after # is a comment.

          # chat.swarm: everyone hears what ten of them say
          connect
          authenticate user<client>@example.com secret
          listen messages created since sentAt
          together
          first 10 clients 100 times every 200ms create messages {"text": "<client>: <number>", "sentAt": <now>}
          wait 1000 messages created within 60s
          find messages {"$limit": 10}
          disconnect

        Steps:
          connect | disconnect | together (waits for all clients) | pause DURATION
          authenticate EMAIL PASSWORD | authenticate JSON
          find SERVICE [QUERY] | get SERVICE ID | create SERVICE DATA | update SERVICE ID DATA | patch SERVICE ID DATA | remove SERVICE ID
          call SERVICE METHOD DATA
          listen SERVICE EVENT [since PROPERTY]      counts events; with a property that holds <now>, also measures their delivery
          wait N SERVICE EVENT [within DURATION]     until this client has received N events since it listens (default: within 30s)
        Before a step: [first N clients] [N times [every DURATION]]. Durations: 250ms, 10s, 2m.
        In data, ids and credentials: <client> and <number> (of the repetition) count from 1, <now> is the time in microseconds.

        Exit status: 0 if every step succeeded, 1 if not; 64 for a wrong command line, 65 for a wrong script, 66 for a script that cannot be
        read, 71 if the system does not allow enough open files.
        """

    init(_ words: [String]) throws {
        var words = words[...]
        while let word = words.popFirst() {
            func value() throws -> String {
                guard let value = words.popFirst(), !value.hasPrefix("--") else { throw Self.wrong("'\(word)' needs a value") }
                return value
            }
            func count() throws -> Int {
                let text = try value()
                guard let count = Int(text), (1...1_000_000).contains(count) else {
                    throw Self.wrong("'\(word)' needs a whole number from 1 to 1000000, not '\(text)'")
                }
                return count
            }
            switch word {
            case "--help", "-h": showsHelp = true
            case "--url":
                let text = try value()
                guard let url = URL(string: text), url.host() != nil else { throw Self.wrong("'\(text)' is not the URL of a server") }
                self.url = url
            case "--clients": clients = try count()
            case "--script": script = try value()
            case "--at-once": atOnce = try count()
            case "--timeout": timeout = .seconds(try count())
            case "--svg": svg = try value()
            case "--transport":
                let name = try value()
                guard ["rest", "socketio"].contains(name) else { throw Self.wrong("'--transport' is 'socketio' or 'rest', not '\(name)'") }
                usesREST = name == "rest"
            default: throw Self.wrong("Unknown argument '\(word)'")
            }
        }
        guard showsHelp || (url.host() != nil && clients > 0 && !script.isEmpty) else {
            throw Self.wrong("'--url', '--clients' and '--script' are required")
        }
    }

    /// One for each connection, a few for each that is being opened, and those of the process.
    var filesNeeded: Int { (usesREST ? min(clients, 1024) : clients) + 8 * min(atOnce, clients) + 64 }

    private static func wrong(_ what: String) -> SwarmError { SwarmError(status: 64, message: "\(what). See 'Swarm --help'.") }
}

/// The number of files that this process may have open.
enum FileLimit {
    static func raise(to count: Int) throws {
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < rlim_t(count) else { return }
        let allowed = limit.rlim_max
        limit.rlim_cur = rlim_t(count)
        // Beyond the hard limit, only the superuser may go.
        limit.rlim_max = max(allowed, rlim_t(count))
        guard setrlimit(resource, &limit) == 0 else {
            throw SwarmError(
                status: 71,
                message: """
                    \(count) open files are needed, but the system allows \(allowed). Use fewer clients, or raise the limit: 'ulimit -Hn \(count)' \
                    as the superuser.
                    """)
        }
    }
}
