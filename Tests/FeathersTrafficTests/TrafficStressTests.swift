import Feathers
import FeathersSupport
import FeathersTesting
import Testing

@Suite("Traffic under stress", .timeLimit(.minutes(10)))
struct TrafficStressTests {
    /// A server that takes its time, answers with the id that was asked for, and never has more to do than it may.
    private struct Server: Sendable {
        let busy = Locked((now: 0, most: 0))

        func transport() -> StubTransport {
            StubTransport { request in
                busy.withLock { busy in
                    busy.now += 1
                    busy.most = max(busy.most, busy.now)
                }
                defer { busy.withLock { $0.now -= 1 } }
                for _ in 0..<20 { await Task.yield() }
                try Task.checkCancellation()
                return request.id?.json ?? .null
            }
        }
    }

    @Test(
        "Whoever is cancelled, everybody else gets the own answer, and no turn is lost",
        arguments: 1...4 as ClosedRange<UInt64>)
    func cancellations(seed: UInt64) async throws {
        let server = Server()
        let app = FeathersApp(transport: server.transport())
        app.use(hooks: .limiting(to: 3, longestWait: nil))
        app.use(hooks: .coalescingReads())
        var random = SeededGenerator(seed: seed)
        let plans = (0..<400).map { _ in
            (
                path: ["messages", "users"][Int.random(in: 0..<2, using: &random)],
                id: Int.random(in: 0..<50, using: &random),
                yields: Int.random(in: 0..<60, using: &random), isCancelled: Int.random(in: 0..<3, using: &random) == 0
            )
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for plan in plans {
                group.addTask {
                    let call = Task { try await app.service(plan.path).get(plan.id) }
                    if plan.isCancelled {
                        for _ in 0..<plan.yields { await Task.yield() }
                        call.cancel()
                    }
                    do {
                        let answer = try await call.value
                        #expect(answer == .integer(Int64(plan.id)))
                    } catch is CancellationError {
                        #expect(plan.isCancelled)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(server.busy.withLock { $0.most } <= 3)
        #expect(server.busy.withLock { $0.now } == 0)
        // All three turns are there: the third of these would wait for ever otherwise.
        let gate = Promise<Void>()
        let (arrived, continuation) = AsyncStream.makeStream(of: Void.self)
        try await app.use(WaitingService(gate: gate, arrived: continuation), at: "waiting")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in 0..<3 { group.addTask { _ = try await app.service("waiting").get(id) } }
            var count = 0
            for await _ in arrived {
                count += 1
                if count == 3 { break }
            }
            gate.resolve(())
            try await group.waitForAll()
        }
    }

    private actor WaitingService: ServiceProtocol {
        private let gate: Promise<Void>
        private let arrived: AsyncStream<Void>.Continuation

        init(gate: Promise<Void>, arrived: AsyncStream<Void>.Continuation) {
            (self.gate, self.arrived) = (gate, arrived)
        }

        func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue {
            arrived.yield()
            try await gate.value()
            return .null
        }
    }
}
