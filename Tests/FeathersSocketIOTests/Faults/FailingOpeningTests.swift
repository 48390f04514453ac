import FeathersCore
import TestBackend
import Testing

@testable import FeathersSocketIO

/// What goes wrong while a connection opens.
enum FailingOpening: String, CaseIterable, CustomTestStringConvertible {
    case refused, cut, reset, truncated, corrupted, stalled

    var testDescription: String { rawValue }

    /// The plan that does it to every connection; nil where none is even accepted.
    var plan: FaultPlan? {
        let fault: Fault? =
            switch self {
            case .refused: nil
            case .cut: Fault(.cut, .afterBytes(0...0))
            case .reset: Fault(.reset, .afterBytes(0...0))
            case .truncated: Fault(.truncate, .afterBytes(10...100))
            // Within the status line.
            case .corrupted: Fault(.corrupt, .afterBytes(0...11))
            case .stalled: Fault(.stall, .afterBytes(0...0))
            }
        return fault.map { fault in
            FaultPlan {
                switch fault.kind {
                // These let through what came, which may be the whole answer: so they come after the question.
                case .cut, .reset, .stall: $0.toServer.faults = [fault]
                case .truncate, .corrupt: $0.toClient.faults = [fault]
                }
            }
        }
    }
}

extension FaultTests {
    @Suite("A connection that does not open", .timeLimit(.minutes(10)))
    struct FailingOpeningTests {
        @Test(
            "throws what is wrong, leaves nothing running, and opens as soon as it can", arguments: Way.allCases,
            FailingOpening.allCases)
        func opening(way: Way, opening: FailingOpening) async throws {
            try await FaultyConnection.through(way, plan: opening.plan ?? FaultPlan()) {
                $0.connectTimeout = .seconds(1)
            } _: { connection in
                if opening == .refused { try await connection.proxy.refuse() }
                let error = try await #require(throws: FeathersError.self) { try await connection.transport.connect() }
                #expect(error.code == .unavailable || error.code == .timeout)
                #expect(error.execution == .neverSent)
                #expect(connection.transport.status != .connecting(attempt: 1))
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await connection.transport.run() }
                    for await status in connection.transport.statusUpdates() {
                        if case .waiting(attempt: 2..., _, _) = status { break }
                    }
                    let queued = await connection.start { try await connection.echo(7) }
                    try await connection.proxy.change(FaultPlan())
                    try await connection.proxy.accept()
                    #expect(try await queued.value == 7)
                    // Nothing was missed: there was no connection before.
                    #expect(!connection.deliveries.waiting.contains(.gap))
                    await connection.transport.disconnect()
                }
            }
        }
    }
}
