/// Runs `body` a number of times in each of several concurrent tasks.
func concurrently(_ tasks: Int, each: Int, _ body: @escaping @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<tasks {
            group.addTask { for _ in 0..<each { try await body() } }
        }
        try await group.waitForAll()
    }
}
