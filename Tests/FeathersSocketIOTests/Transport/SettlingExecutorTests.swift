import FeathersSupport
import TestBackend
import Testing

@Suite("The executor that tells when tasks wait", .timeLimit(.minutes(10)))
struct SettlingExecutorTests {
    @Test("waits for a task with all its children, and again after they were resumed")
    func children() async throws {
        let executor = SettlingExecutor()
        let gate = Promise<Void>()
        // How many children have begun, and how many have ended.
        let counts = Locked([0, 0])
        let task = await executor.start {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        counts.withLock { $0[0] += 1 }
                        try await gate.value()
                        counts.withLock { $0[1] += 1 }
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(counts.withLock { $0 } == [100, 0])
        gate.resolve(())
        await executor.settle()
        #expect(counts.withLock { $0 } == [100, 100])
        try await task.value
    }
}
