/// Runs `body` so many times in each of so many tasks at once.
func concurrently(_ tasks: Int, each: Int, _ body: @escaping @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<tasks {
            group.addTask { for _ in 0..<each { try await body() } }
        }
        try await group.waitForAll()
    }
}
