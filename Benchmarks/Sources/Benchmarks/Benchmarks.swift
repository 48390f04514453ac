import Dispatch
import Feathers
import Foundation

/// The program that measures the numbers in the README.
@main
struct Benchmarks {
    /// Blocks the main thread until the work is done. With an asynchronous `main`, that thread ends, which crashes
    /// valgrind.
    static func main() {
        Task.detached { exit(await status()) }
        DispatchSemaphore(value: 0).wait()
    }

    private static func status() async -> Int32 {
        do {
            try await run(Arguments(Array(CommandLine.arguments.dropFirst())))
            return 0
        } catch let error as ArgumentError {
            FileHandle.standardError.write(Data("\(error).\n\n\(Arguments.usage)\n".utf8))
            return 64
        } catch {
            FileHandle.standardError.write(Data("\(error).\n".utf8))
            return 65
        }
    }

    private static func run(_ arguments: Arguments) async throws {
        switch arguments.task {
        case .help: print(Arguments.usage)
        case .serve(let kind): try kind.serve()
        case .profile(let what, let times, let server): try await what.run(times: times, server: server)
        case .report: try ResultFiles.write(try Results(contentsOf: ResultFiles.result))
        case .check: try ResultFiles.check(try Results(contentsOf: ResultFiles.result))
        case .comparePeers:
            let peers = try await PeerBenchmarks()
            var results = try await measure(peers.groups, [], arguments)
            results.notes = peers.skipped.map { "Skipped: \($0)" }
            print(arguments.isJSON ? try results.json : PeerTable(results).text)
        case .compareFloor:
            #if os(Linux)
                print(try await FloorBenchmarks(rounds: arguments.rounds).table())
            #else
                throw ArgumentError("'--floor' is available only on Linux")
            #endif
        case .checkBursts(let limit):
            #if os(Linux)
                try await FloorBenchmarks(rounds: arguments.rounds, tasks: [FloorBenchmarks.bursts]).checkBursts(limit)
            #else
                throw ArgumentError("'--bursts-at-most' is available only on Linux")
            #endif
        case .measure(let isKept):
            // Read before measuring, to report an invalid file early, and before '--save' replaces the result.
            let earlier = try arguments.earlier.map { try Results(contentsOf: $0) }
            let stored = isKept && arguments.only != nil ? try Results(contentsOf: ResultFiles.result) : nil
            let results = try await measureAll(arguments)
            let kept = try stored?.replacing(results) ?? results
            print(arguments.isJSON ? try results.json : Report.text(of: results))
            if let earlier { print("\n\(Comparison(earlier: earlier, later: results).text)") }
            if isKept {
                try kept.write(to: ResultFiles.result)
                try ResultFiles.write(kept)
            }
        }
    }

    private static func measureAll(_ arguments: Arguments) async throws -> Results {
        var groups = try await [
            CallBenchmarks.hooks(), CallBenchmarks.memory(), DiagnosticBenchmarks.group(), TrafficBenchmarks.group(),
        ]
        groups += try JSONBenchmarks.groups()
        groups.append(try await ModelBenchmarks.group())
        groups += JSONAPIBenchmarks.groups()
        groups += try [QueryBenchmarks.group(), RESTBenchmarks.group()]
        groups += try await CachingBenchmarks.groups()
        groups += try await LocalBenchmarks.groups()
        groups += [try await SocketIOBenchmarks.group()]
        groups += try await PeerBenchmarks().groups
        return try await measure(groups, Growth.groups(), arguments)
    }

    private static func measure(_ groups: [BenchmarkGroup], _ growth: [GrowthGroup], _ arguments: Arguments)
        async throws -> Results
    {
        func isWanted(_ name: String) -> Bool {
            arguments.only.map { name.localizedCaseInsensitiveContains($0) } ?? true
        }
        let (groups, growth) = (groups.filter { isWanted($0.name) }, growth.filter { isWanted($0.name) })
        if let only = arguments.only, groups.isEmpty, growth.isEmpty {
            throw ArgumentError("No group's name contains '\(only)'")
        }
        var results = Results(machine: Machine.described(rounds: arguments.rounds))
        let harness = Harness(rounds: arguments.rounds)
        var shares: [Double?] = []
        for group in groups {
            shares.append(try await Machine.busyShare())
            results.measurements += try await harness.measure(group)
        }
        for group in growth {
            shares.append(try await Machine.busyShare())
            results.growth += try await harness.measure(group)
        }
        if groups.contains(where: { $0.name == SocketIOBenchmarks.name }) {
            results.notes = try await SocketIOBenchmarks.notes()
        }
        if groups.contains(where: { $0.name.hasPrefix(LocalBenchmarks.name) }) {
            results.notes += try await LocalBenchmarks.notes()
        }
        if growth.contains(where: { $0.name == OverloadGrowth.name }) {
            results.notes += try await OverloadGrowth.notes()
        }
        let known = shares.compactMap(\.self)
        results.machine.othersShare =
            known.isEmpty ? nil : (known.reduce(0, +) / Double(known.count)).rounded(places: 2)
        return results
    }
}
