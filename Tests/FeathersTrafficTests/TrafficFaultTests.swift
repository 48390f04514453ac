import Feathers
import FeathersTesting
import Foundation
import TestBackend
import Testing

@Suite("Traffic and faults", .timeLimit(.minutes(10)), .inTurn, .enabled(if: !TestBackend.isSkipped))
struct TrafficFaultTests {
    @Test("With the server down calls keep no turn, and come through once it is back")
    func serverDown() async throws {
        let proxy = try await FaultProxy(to: try await TestBackend.url())
        try await proxy.refuse()
        let app = FeathersApp(transport: .rest(proxy.url))
        app.use(hooks: .retrying(attempts: 1000, pause: .milliseconds(20), longestPause: .milliseconds(50)))
        app.use(hooks: .limiting(to: 1))
        let (news, continuation) = AsyncStream.makeStream(of: Void.self)
        app.use(hooks: Hooks(error: [{ _ in continuation.yield() }]))
        let answers = try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for number in Int64(1)...3 {
                group.addTask { try await app.service("echo").rawFind(["number": .integer(number)]) }
            }
            // More failures than there are callers: somebody got a turn after somebody had failed.
            var failures = 0
            for await _ in news {
                failures += 1
                if failures == 6 { break }
            }
            try await proxy.accept()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count == 3)
        try await proxy.close()
    }
}
