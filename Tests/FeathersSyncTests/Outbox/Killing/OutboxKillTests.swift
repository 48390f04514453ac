#if os(macOS) || os(Linux)
    import Foundation
    import TestBackend
    import Testing

    @Suite(
        "Killing an outbox' process and its server", .timeLimit(.minutes(30)), .serialized, .inTurn,
        .enabled(if: !TestBackend.isSkipped))
    struct OutboxKillTests {
        private static let kills = Environment.count ?? 8

        @Test(
            "What was acknowledged is executed once and in the order of its record, however often either is killed",
            arguments: ["rest", "socketio", "unkeyed"])
        func killed(_ transport: String) async throws {
            let run = try KillRun(transport: transport)
            // Without keys, the server executes whatever comes: all is executed once at most, and what is given up is
            // told.
            let isForgetful = transport == "unkeyed"
            var server = try await LedgerServer.start(ledger: run.ledger, isForgetful: isForgetful)
            var generation = 0
            var writer = try await run.startWriter(server.url, generation: generation)
            var (writerKills, serverKills) = (0, 0)
            for _ in 0..<Self.kills {
                // Chance is what is wanted here: nothing is waited for.
                try await Task.sleep(for: .microseconds(.random(in: 0..<120_000)))
                if Int.random(in: 0..<3) == 0 {
                    serverKills += 1
                    try await server.kill()
                    try await Task.sleep(for: .microseconds(.random(in: 0..<30_000)))
                    server = try await LedgerServer.start(ledger: run.ledger, after: server, isForgetful: isForgetful)
                } else {
                    writerKills += 1
                    try await run.kill(writer)
                    generation += 1
                    // Every fourth is killed while it opens the outbox.
                    writer = try await run.startWriter(
                        server.url, generation: generation, untilReady: Int.random(in: 0..<4) > 0)
                }
            }
            try await run.kill(writer)
            try await run.sendTheRest(to: server.url)
            try await server.kill()

            let check = try run.check()
            #expect(check.violations == [])
            // They did come to write.
            #expect(check.acknowledged.count > Self.kills / 4)
            print(
                """
                Outbox over \(transport): \(writerKills) kills of the process, \(serverKills) of the server, \
                \(check.acknowledged.count) writes acknowledged, \(check.executed.count) executed, \
                \(check.repetitions) repetitions recognised, \(check.unknown.count) given up, \
                \(check.violations.count) violations
                """)
        }

        @Test("A server that executes repetitions is found out")
        func forgetful() async throws {
            let run = try KillRun(transport: "rest")
            var server = try await LedgerServer.start(ledger: run.ledger, isForgetful: true)
            // The first repetition may be long in coming where chance is against it.
            for generation in 0..<200 {
                let writer = try await run.startWriter(server.url, generation: generation)
                try await Task.sleep(for: .microseconds(.random(in: 10_000..<60_000)))
                try await run.kill(writer)
                if try run.check().violations.contains(where: { $0.hasPrefix("executed 2 times") }) {
                    return try await server.kill()
                }
                if generation % 10 == 9 {
                    try await server.kill()
                    server = try await LedgerServer.start(ledger: run.ledger, after: server, isForgetful: true)
                }
            }
            try await server.kill()
            Issue.record("no repetition was executed")
        }
    }
#endif
