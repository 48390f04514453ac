import Foundation

/// The parsed command line.
struct Arguments {
    enum Task: Equatable {
        /// Measures. If `isKept`, stores the result and generates its tables.
        case measure(isKept: Bool)
        /// Measures only the tasks that other clients are measured with.
        case comparePeers
        /// Measures events and calls over Socket.IO beside a client that only counts frames.
        case compareFloor
        /// Fails if an event of a burst costs more than this many times what the client that only counts frames takes.
        case checkBursts(atMost: Int)
        /// Regenerates the tables of the stored result.
        case report
        /// Checks that the tables match the stored result.
        case check
        case help
        /// Repeats one operation, for a profiler.
        case profile(Profile, times: Int, server: URL?)
        /// Runs a server. For internal use: the program starts its own servers this way.
        case serve(ServerProcess.Kind)
    }

    private(set) var task = Task.measure(isKept: false)
    private(set) var rounds = 7
    private(set) var isJSON = false
    private(set) var only: String?
    /// The result file to compare with.
    private(set) var earlier: URL?

    static let usage = """
        Usage: swift run -c release --package-path Benchmarks Benchmarks [--json] [--rounds N] [--only TEXT]
                          [--compare-with [FILE]] [--save]

          --json                 print JSON instead of the table
          --rounds N             the number of rounds (default: 7); results are their median
          --only TEXT            run only the groups whose names contain the text
          --compare-with [FILE]  print the changes since a stored result (default: the one in Benchmarks/results)
          --save                 store the result in Benchmarks/results, and generate its tables; with '--only',
                                 the other groups keep their stored results
          --peers                run only the comparison with other clients; `Benchmarks/compare` installs them
          --floor                run only the comparison with a client in C that only counts frames (Linux)
          --bursts-at-most N     fail if an event of a burst over Socket.IO takes more than N times the CPU time that it
                                 takes the client in C (Linux)
          --report               regenerate the tables of the stored result, without measuring
          --check                fail if the tables don't match the stored result, without measuring
          --profile WHAT N [URL] run one of \(Profile.names) N times, for a profiler
        """

    init(_ words: [String]) throws(ArgumentError) {
        var words = words[...]
        var seen: [String] = []
        while let word = words.popFirst() {
            guard !seen.contains(word) else { throw ArgumentError("'\(word)' is specified twice") }
            seen.append(word)
            switch word {
            case "--json": isJSON = true
            case "--rounds": rounds = try Self.count(words.popFirst(), of: word)
            case "--only": only = try Self.text(words.popFirst(), of: word)
            case "--compare-with":
                let isNamed = words.first.map { !$0.hasPrefix("--") } ?? false
                earlier = isNamed ? words.popFirst().map { URL(filePath: $0) } : ResultFiles.result
            case "--save": try become(.measure(isKept: true), word)
            case "--peers": try become(.comparePeers, word)
            case "--floor": try become(.compareFloor, word)
            case "--bursts-at-most": try become(.checkBursts(atMost: Self.count(words.popFirst(), of: word)), word)
            case "--report": try become(.report, word)
            case "--check": try become(.check, word)
            case "--help", "-h": try become(.help, word)
            case "--profile":
                let name = try Self.text(words.popFirst(), of: word)
                guard let what = Profile(rawValue: name) else {
                    throw ArgumentError("'\(name)' is not one of \(Profile.names)")
                }
                let times = try Self.count(words.popFirst(), of: "\(word) \(name)")
                let isNamed = words.first.map { !$0.hasPrefix("--") } ?? false
                try become(
                    .profile(what, times: times, server: isNamed ? words.popFirst().flatMap { URL(string: $0) } : nil),
                    word)
            case "--serve":
                let name = try Self.text(words.popFirst(), of: word)
                guard let kind = ServerProcess.Kind(rawValue: name) else {
                    throw ArgumentError("Unknown server '\(name)'")
                }
                try become(.serve(kind), word)
            default: throw ArgumentError("Unknown argument '\(word)'")
            }
        }
        try checkCombination(seen)
    }

    private mutating func become(_ task: Task, _ word: String) throws(ArgumentError) {
        guard self.task == .measure(isKept: false) else {
            throw ArgumentError("'\(word)' cannot be combined with another task")
        }
        self.task = task
    }

    private func checkCombination(_ seen: [String]) throws(ArgumentError) {
        switch task {
        case .report, .check:
            if let word = seen.first(where: { $0 != "--report" && $0 != "--check" }) {
                throw ArgumentError(
                    "'\(word)' cannot be used with '\(task == .report ? "--report" : "--check")', "
                        + "which measures nothing")
            }
        case .comparePeers where earlier != nil:
            throw ArgumentError("'--peers' cannot be combined with '--compare-with'")
        case .compareFloor where isJSON || only != nil || earlier != nil:
            throw ArgumentError("'--floor' can only be combined with '--rounds'")
        case .checkBursts where isJSON || only != nil || earlier != nil:
            throw ArgumentError("'--bursts-at-most' can only be combined with '--rounds'")
        default: break
        }
        if isJSON, earlier != nil {
            throw ArgumentError("'--json' cannot be combined with '--compare-with', which prints a table")
        }
    }

    private static func count(_ word: String?, of option: String) throws(ArgumentError) -> Int {
        guard let word, let count = Int(word), count > 0 else {
            throw ArgumentError(
                "'\(option)' requires a whole number of at least 1\(word.map { ", not '\($0)'" } ?? "")")
        }
        return count
    }

    private static func text(_ word: String?, of option: String) throws(ArgumentError) -> String {
        guard let word, !word.isEmpty, !word.hasPrefix("--") else {
            throw ArgumentError("'\(option)' requires a text after it")
        }
        return word
    }
}

/// An error in the command line.
struct ArgumentError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
