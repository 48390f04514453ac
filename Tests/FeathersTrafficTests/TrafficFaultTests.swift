import Feathers
import FeathersTesting
import Foundation
import TestBackend
import Testing

@Suite("Traffic and faults", .timeLimit(.minutes(10)), .inTurn, .enabled(if: !TestBackend.isSkipped))
struct TrafficFaultTests {
    /// Three callers of an app whose server is behind a proxy.
    private func callers(
        _ app: FeathersApp, _ path: String = "slow", whileUnderWay body: () async throws -> Void
    ) async throws -> [JSONValue] {
        try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for number in 1...3 { group.addTask { try await app.service(path).find(["ms": 500, "number": .integer(Int64(number))]) } }
            try await body()
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test("Reads whose batch is cut are gathered and made again")
    func cutBatch() async throws {
        let proxy = try await FaultProxy(to: try await TestBackend.url())
        let app = FeathersApp(transport: .rest(proxy.url))
        app.use(hooks: .retrying(attempts: 5, pause: .milliseconds(20)))
        app.use(hooks: .batching(over: "batch", window: .seconds(60), limit: 3))
        // No answer comes before the connection has been cut, however long that takes.
        try await proxy.stall(.toClient, new: true)
        let answers = try await callers(app) {
            try await proxy.counters(toServer: 200)
            try await proxy.cut()
            try await proxy.resume(.toClient)
        }
        #expect(answers.count == 3)
        #expect(try await proxy.counters().connections == 2)
        try await proxy.close()
    }

    @Test("With the server down calls keep no turn, and come through once it is back")
    func serverDown() async throws {
        let proxy = try await FaultProxy(to: try await TestBackend.url())
        try await proxy.refuse()
        let app = FeathersApp(transport: .rest(proxy.url))
        app.use(hooks: .retrying(attempts: 1000, pause: .milliseconds(20), longestPause: .milliseconds(50)))
        app.use(hooks: .limiting(to: 1))
        let (news, continuation) = AsyncStream.makeStream(of: Void.self)
        app.use(hooks: Hooks(error: [{ _ in continuation.yield() }]))
        let answers = try await callers(app, "echo") {
            // More failures than there are callers: somebody got a turn after somebody had failed.
            var failures = 0
            for await _ in news {
                failures += 1
                if failures == 6 { break }
            }
            try await proxy.accept()
        }
        #expect(answers.count == 3)
        try await proxy.close()
    }

    @Test("A batch of reads goes over REST while the connection is away, one of writes waits for it")
    func batchBeside() async throws {
        let ways = StubbedWays()
        let batch = ServiceStub { request in
            .array((request.data?["calls"]?.array ?? []).map { ["status": "fulfilled", "value": $0[0] ?? .null] })
        }
        ways.socket.stub("batch", with: batch)
        ways.rest.stub("batch", with: batch)
        ways.app.use(hooks: .batching(over: "batch", methods: [.get, .patch], window: .seconds(60), limit: 2))
        let messages = ways.app.service("messages")
        async let first = messages.get(1)
        async let second = messages.get(2)
        #expect(try await [first, second] == ["get", "get"])
        async let third = messages.patch(3, with: [:])
        async let fourth = messages.patch(4, with: [:])
        try await ways.socket.waitForWaitingCalls(1)
        try await ways.app.connect()
        #expect(try await [third, fourth] == ["patch", "patch"])
        #expect(ways.rest.requests.map(\.path) == ["batch"])
        #expect(ways.socket.requests.map(\.path) == ["batch"])
    }
}
