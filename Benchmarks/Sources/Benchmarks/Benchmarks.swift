import Feathers
import Foundation

/// Measures what the README claims.
@main
struct Benchmarks {
    static let usage = """
        Usage: swift run -c release --package-path Benchmarks Benchmarks [--json] [--rounds N] [--only TEXT]

          --json      print JSON in place of the table
          --rounds N  how many rounds are measured, 7 if not said; the median counts
          --only TEXT only the groups whose names contain the text
        """

    static func main() async throws {
        var rounds = 7
        var isJSON = false
        var only: String?
        var arguments = CommandLine.arguments.dropFirst()
        while let argument = arguments.popFirst() {
            switch argument {
            case "--json": isJSON = true
            case "--rounds": rounds = max(1, arguments.popFirst().flatMap { Int($0) } ?? rounds)
            case "--only": only = arguments.popFirst()
            case "--serve":
                // How the program runs its own servers; nothing for people.
                try arguments.popFirst().flatMap(ServerProcess.Kind.init(rawValue:))?.serve()
                return
            default:
                FileHandle.standardError.write(Data("Unknown argument '\(argument)'.\n\n\(usage)\n".utf8))
                exit(64)
            }
        }
        let report = try await measure(rounds: rounds, only: only)
        print(isJSON ? report.json.description : report.table)
    }

    /// Runs off the main actor: a call from there would pay for two changes of thread.
    @concurrent
    private static func measure(rounds: Int, only: String?) async throws -> Report {
        var groups = try await [CallBenchmarks.hooks(), CallBenchmarks.memory(), DiagnosticBenchmarks.group(), TrafficBenchmarks.group()]
        groups += try JSONBenchmarks.groups()
        groups += JSONAPIBenchmarks.groups()
        groups += try [QueryBenchmarks.group(), RESTBenchmarks.group()]
        groups += try await CachingBenchmarks.groups()
        groups += [try await SocketIOBenchmarks.group()]
        func isWanted(_ name: String) -> Bool { only.map { name.localizedCaseInsensitiveContains($0) } ?? true }
        var measurements: [Measurement] = []
        for group in groups where isWanted(group.name) { measurements += try await Harness(rounds: rounds).measure(group) }
        return Report(measurements: measurements, notes: isWanted("Socket.IO") ? try await SocketIOBenchmarks.notes() : [])
    }
}
