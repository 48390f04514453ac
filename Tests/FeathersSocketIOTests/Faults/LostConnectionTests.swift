import FeathersCore
import FeathersTesting
import TestBackend
import Testing

@testable import FeathersSocketIO

extension FaultTests {
    @Suite("A connection lost on its way to the backend", .timeLimit(.minutes(10)))
    struct LostConnectionTests {
        private static let clock = ContinuousClock()
        /// What a busy machine takes for it, and much less than a heartbeat.
        private static let atOnce = Duration.seconds(20)

        private static func noise(_ count: Int) -> JSONValue {
            var random = SeededGenerator(seed: 1)
            let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".unicodeScalars)
            var text = String.UnicodeScalarView()
            for _ in 0..<count { text.append(letters[Int(random.next() & 63)]) }
            return .string(String(text))
        }

        @Test(
            "fails at once what was sent, and answers what waited once it is back", arguments: Way.allCases,
            [Fault.Kind.cut, .reset])
        func lost(way: Way, kind: Fault.Kind) async throws {
            try await FaultyConnection.connected(way) { connection in
                let sent = await connection.start { try await connection.failuresOfSlowCalls(3) }
                // Calls keep their order: once this one is answered the server has the others.
                #expect(try await connection.echo(0) == 0)
                try await connection.proxy.refuse()
                let start = Self.clock.now
                try await kind == .cut ? connection.proxy.cut() : connection.proxy.reset()
                for error in try await sent.value {
                    #expect(error.code == .unavailable)
                    #expect(error.execution == .mayHaveExecuted)
                }
                #expect(Self.clock.now - start < Self.atOnce)
                let first = await connection.start { try await connection.echo(1) }
                let second = await connection.start { try await connection.echo(2) }
                try await connection.proxy.accept()
                #expect(try await first.value == 1)
                #expect(try await second.value == 2)
                try await connection.expectRecovery()
            }
        }

        @Test(
            "fails what was sent however an answer is broken off or spoilt, and connects again",
            arguments: Way.allCases, [Fault.Kind.cut, .reset, .truncate, .corrupt])
        func brokenAnswer(way: Way, kind: Fault.Kind) async throws {
            try await FaultyConnection.connected(way) { connection in
                #expect(try await connection.echo(0) == 0)
                try await connection.proxy.change(
                    FaultPlan { $0.toClient.faults = [Fault(kind, .afterBytes(3000...3000))] })
                // More than the proxy takes in one go, so that a cut after what came leaves something out, and nothing
                // that gets small by compression.
                let start = Self.clock.now
                let error = try await connection.failure("echo", .custom("shout"), data: Self.noise(300_000))
                #expect(Self.clock.now - start < Self.atOnce)
                #expect(error.code == .unavailable)
                #expect(error.execution == .mayHaveExecuted)
                try await connection.proxy.change(FaultPlan())
                try await connection.expectRecovery()
            }
        }

        @Test(
            "fails what was being sent however that is broken off or spoilt, and connects again",
            arguments: Way.allCases, [Fault.Kind.cut, .reset, .truncate, .corrupt])
        func brokenCall(way: Way, kind: Fault.Kind) async throws {
            try await FaultyConnection.connected(way) { connection in
                #expect(try await connection.echo(0) == 0)
                try await connection.proxy.change(
                    FaultPlan { $0.toServer.faults = [Fault(kind, .afterBytes(3000...3000))] })
                let text = JSONValue.string(String(repeating: "x", count: 900_000))
                let start = Self.clock.now
                let error = try await connection.failure("big", .create, data: ["text": text])
                #expect(Self.clock.now - start < Self.atOnce)
                #expect(error.code == .unavailable)
                #expect(error.execution == .mayHaveExecuted)
                try await connection.proxy.change(FaultPlan())
                try await connection.expectRecovery()
            }
        }
    }
}
