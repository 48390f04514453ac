import Foundation

/// What the program was asked to do.
struct Arguments {
    enum Task: Equatable {
        /// Measures; `isKept` writes what was measured into the results, with the tables and charts of it.
        case measure(isKept: Bool)
        /// Measures only what other clients are measured at too.
        case comparePeers
        /// Makes the tables and charts of the kept result anew.
        case report
        /// Finds whether the tables and charts are those of the kept result.
        case check
        case help
        /// Does one thing so many times, for a profiler.
        case profile(Profile, times: Int, server: URL?)
        /// How the program runs its own servers; nothing for people.
        case serve(ServerProcess.Kind)
    }

    private(set) var task = Task.measure(isKept: false)
    private(set) var rounds = 7
    private(set) var isJSON = false
    private(set) var only: String?
    /// The result to compare with.
    private(set) var earlier: URL?

    static let usage = """
        Usage: swift run -c release --package-path Benchmarks Benchmarks [--json] [--rounds N] [--only TEXT] [--compare-with [FILE]] [--save]

          --json                 print JSON in place of the table
          --rounds N             how many rounds are measured, 7 if not said; the median counts
          --only TEXT            only the groups whose names contain the text
          --compare-with [FILE]  print what has changed since a result that was kept, the one in Benchmarks/results if not said
          --save                 keep the result in Benchmarks/results, and make the tables and charts of it
          --peers                only what other clients are measured at too; `Benchmarks/compare` sets them up
          --report               measure nothing: make the tables and charts of the kept result anew
          --check                measure nothing: fail where the tables or charts are not those of the kept result
          --profile WHAT N [URL] measure nothing: do one of \(Profile.names) N times, for a profiler
        """

    init(_ words: [String]) throws(ArgumentError) {
        var words = words[...]
        var seen: [String] = []
        while let word = words.popFirst() {
            guard !seen.contains(word) else { throw ArgumentError("'\(word)' is given twice") }
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
            case "--report": try become(.report, word)
            case "--check": try become(.check, word)
            case "--help", "-h": try become(.help, word)
            case "--profile":
                let name = try Self.text(words.popFirst(), of: word)
                guard let what = Profile(rawValue: name) else { throw ArgumentError("'\(name)' is none of \(Profile.names)") }
                let times = try Self.count(words.popFirst(), of: "\(word) \(name)")
                let isNamed = words.first.map { !$0.hasPrefix("--") } ?? false
                try become(.profile(what, times: times, server: isNamed ? words.popFirst().flatMap { URL(string: $0) } : nil), word)
            case "--serve":
                let name = try Self.text(words.popFirst(), of: word)
                guard let kind = ServerProcess.Kind(rawValue: name) else { throw ArgumentError("There is no server '\(name)'") }
                try become(.serve(kind), word)
            default: throw ArgumentError("Unknown argument '\(word)'")
            }
        }
        try checkCombination(seen)
    }

    private mutating func become(_ task: Task, _ word: String) throws(ArgumentError) {
        guard self.task == .measure(isKept: false) else { throw ArgumentError("'\(word)' does not go with another task") }
        self.task = task
    }

    private func checkCombination(_ seen: [String]) throws(ArgumentError) {
        switch task {
        case .measure(isKept: true) where only != nil:
            throw ArgumentError("'--save' keeps all groups: leave out '--only'")
        case .report, .check:
            if let word = seen.first(where: { $0 != "--report" && $0 != "--check" }) {
                throw ArgumentError("'\(word)' does not go with '\(task == .report ? "--report" : "--check")', which measures nothing")
            }
        case .comparePeers where only != nil || earlier != nil:
            throw ArgumentError("'--peers' goes with '--rounds' and '--json' only")
        default: break
        }
        if isJSON, earlier != nil { throw ArgumentError("'--json' does not go with '--compare-with', which prints a table") }
    }

    private static func count(_ word: String?, of option: String) throws(ArgumentError) -> Int {
        guard let word, let count = Int(word), count > 0 else {
            throw ArgumentError("'\(option)' needs a whole number, 1 or more\(word.map { ", not '\($0)'" } ?? "")")
        }
        return count
    }

    private static func text(_ word: String?, of option: String) throws(ArgumentError) -> String {
        guard let word, !word.isEmpty, !word.hasPrefix("--") else { throw ArgumentError("'\(option)' needs a text after it") }
        return word
    }
}

/// What cannot be understood, or not done, in words for whoever typed it.
struct ArgumentError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
