import FeathersCore
import Foundation
import TestBackend
import Testing

@testable import FeathersSocketIO

extension FaultTests {
    @Suite("A connection that is slow and tears everything apart", .timeLimit(.minutes(10)))
    struct SlowConnectionTests {
        static let paces: [FaultPlan] = [
            FaultPlan {
                $0.toServer.splitBytes = 1...3
                $0.toClient.splitBytes = 1...3
            },
            FaultPlan {
                $0.toServer.delayMs = 0...20
                $0.toClient.delayMs = 0...20
                $0.toClient.splitBytes = 1...500
            },
            FaultPlan {
                $0.toServer.mergeMs = 30
                $0.toClient.mergeMs = 30
            },
            FaultPlan { $0.toClient.bytesPerSecond = 20_000 },
        ]

        @Test("brings every answer and every event, in order", arguments: Way.allCases, paces.indices)
        func pace(way: Way, index: Int) async throws {
            let run = UUID().uuidString
            try await FaultyConnection.connected(way, plan: Self.paces[index]) { connection in
                async let big = connection.call("big", .get, id: 3000)
                for number in 0..<10 {
                    try await connection.control.emit(
                        "messages", "tick", ["run": .string(run), "n": .integer(Int64(number))])
                    #expect(try await connection.echo(number) == .integer(Int64(number)))
                }
                #expect(try await big.string?.utf8.count == 3000)
                var heard: [Int64] = []
                // The server answers each call after the event before it.
                for delivery in connection.deliveries.waiting {
                    guard case .event("messages", "tick", let data) = delivery, data["run"]?.string == run else {
                        continue
                    }
                    heard.append(try #require(data["n"]?.integer))
                }
                #expect(heard == Array(0..<10))
                #expect(!connection.deliveries.waiting.contains(.gap))
            }
        }
    }
}
