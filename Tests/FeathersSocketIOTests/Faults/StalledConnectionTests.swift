import FeathersCore
import TestBackend
import Testing

@testable import FeathersSocketIO

extension FaultTests {
    @Suite("A connection that stalls", .timeLimit(.minutes(10)))
    struct StalledConnectionTests {
        private static let backend = TestBackend(variables: ["PING_INTERVAL": "300", "PING_TIMEOUT": "2700"])
        /// What a busy machine may add to the server's 3 seconds.
        private static let allowance = Duration.seconds(6)

        @Test(
            "is noticed by the silence of the server, and replaced", arguments: Way.allCases,
            [nil, FaultProxy.Direction.toClient])
        func silence(way: Way, direction: FaultProxy.Direction?) async throws {
            let clock = ContinuousClock()
            try await FaultyConnection.connected(way, on: Self.backend) { connection in
                let sent = await connection.start { try await connection.failuresOfSlowCalls(1) }
                #expect(try await connection.echo(0) == 0)
                let start = clock.now
                try await connection.proxy.stall(direction)
                let error = try #require(try await sent.value.first)
                #expect(clock.now - start < .seconds(3) + Self.allowance)
                #expect(error.code == .unavailable)
                #expect(error.execution == .mayHaveExecuted)
                #expect(error.message.contains(DisconnectReason.pingTimeout.refusalText))
                try await connection.expectRecovery()
                // Nothing asks over a connection that is dead: that would cost all the time there is to connect.
                #expect(clock.now - start < .seconds(3) + Self.allowance * 2)
            }
        }

        @Test("towards the server is noticed by the server, which ends it", arguments: Way.allCases)
        func deaf(way: Way) async throws {
            try await FaultyConnection.connected(way, on: Self.backend) { connection in
                let sent = await connection.start { try await connection.failuresOfSlowCalls(1) }
                #expect(try await connection.echo(0) == 0)
                try await connection.proxy.stall(.toServer)
                let error = try #require(try await sent.value.first)
                #expect(error.code == .unavailable)
                #expect(error.execution == .mayHaveExecuted)
                try await connection.expectRecovery()
            }
        }

        @Test("for less than the heartbeat allows loses nothing", arguments: Way.allCases)
        func short(way: Way) async throws {
            try await FaultyConnection.connected(way) { connection in
                #expect(try await connection.echo(0) == 0)
                try await connection.proxy.stall()
                let first = await connection.start { try await connection.echo(1) }
                let second = await connection.start { try await connection.echo(2) }
                try await connection.proxy.resume()
                #expect(try await first.value == 1)
                #expect(try await second.value == 2)
                #expect(!connection.deliveries.waiting.contains(.gap))
            }
        }
    }
}
