import AsyncHTTPClient
import Feathers
import Foundation
import Synchronization
import TestBackend
import Testing

/// `FEATHERS_LONG=600 SWT_SWIFT_ERROR_BACKTRACING_ENABLED=0` runs it for ten minutes.
///
/// Swift Testing stores a backtrace of each error that is thrown, until the test has ended. Without the second variable,
/// those are most of the memory, which is then not compared.
@Suite("A soak of gateways", .inTurn, .timeLimit(.minutes(30)))
struct SoakTests {
    private static let seconds = ProcessInfo.processInfo.environment["FEATHERS_LONG"].flatMap { Int($0) } ?? 0

    private static let storesBacktraces =
        ProcessInfo.processInfo.environment["SWT_SWIFT_ERROR_BACKTRACING_ENABLED"] != "0"

    @Test(
        "Gateways that restart and lose their connections lose nothing without a gap, and memory does not grow",
        .enabled(if: seconds > 1 && !TestBackend.isSkipped && RedisServer.isInstalled, "needs FEATHERS_LONG"))
    func soak() async throws {
        let nodes = try await Nodes(2)
        let urls = [try await nodes.nodes[0].url(), try await nodes.nodes[1].url()]
        let lines = [
            try await FaultProxy.balancing([urls[1], urls[0]]), try await FaultProxy.balancing([urls[0], urls[1]]),
        ]
        func gateway(_ number: Int) async throws -> RunningGateway {
            try await RunningGateway(over: lines[number].url, rest: urls[number])
        }
        var gateways = [try await gateway(0), try await gateway(1)]
        let ports = Mutex(gateways.map(\.port))
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 400
        let client = AsyncHTTPClient.HTTPClient(configuration: configuration)
        let readers = (0..<200).map { number in
            EventReader(client: client) { ports.withLock { $0[number % $0.count] } }
        }
        let writer = FeathersApp(transport: .rest(urls[0])).service("messages")
        let end = ContinuousClock.now + .seconds(Self.seconds)
        var (number, round, early) = (0, 0, 0)
        func write() async throws {
            for _ in 0..<10 {
                number += 1
                _ = try await writer.create(["text": .string("\(number)")])
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for reader in readers { group.addTask { try await reader.run() } }
            for reader in readers { try await reader.reaches { $0.openings == 1 } }
            while ContinuousClock.now < end {
                round += 1
                let (ended, other) = (round % 2, 1 - round % 2)
                let before = readers.map(\.log)
                try await write()
                if round % 4 < 2 {
                    ports.withLock { $0 = [$0[other]] }
                    let left = gateways[ended]
                    group.addTask { await left.kill() }
                    try await write()
                    gateways[ended] = try await gateway(ended)
                    ports.withLock { [gateways] in $0 = gateways.map(\.port) }
                } else {
                    try await lines[ended].cut()
                    try await write()
                }
                // Wherever a reader is, it hears of a record that is written once it is back.
                for _ in 0..<3 { try await write() }
                let last = number
                for (reader, log) in zip(readers, before) {
                    try await reader.reaches {
                        $0.texts.last == "\(last)" || $0.openings > log.openings || $0.gaps > log.gaps
                    }
                }
                if round == 20 { early = Self.residentKilobytes }
            }
            #expect(readers.map(\.log.lost).reduce(0, +) == 0)
            for reader in readers { reader.stop() }
            for gateway in gateways { await gateway.kill() }
            try await group.waitForAll()
        }
        let late = Self.residentKilobytes
        print(
            "Soak: \(Self.seconds) s, \(round) rounds, \(number) records, \(readers.map(\.log.openings).reduce(0, +)) "
                + "openings, \(readers.map(\.log.gaps).reduce(0, +)) gaps, \(early) KB after 20 rounds, \(late) KB at the end"
        )
        #expect(early == 0 || Self.storesBacktraces || late < early + 32 * 1024)
        try await client.shutdown()
    }

    private static var residentKilobytes: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 4 } ?? 0
    }
}
