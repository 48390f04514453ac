/// Returns whether a wait ends in time without an error.
func holds(within limit: Duration, _ body: @escaping @Sendable () async throws -> Void) async -> Bool {
    await withTaskGroup(of: Bool.self) { group in
        group.addTask { (try? await body()) != nil }
        group.addTask { (try? await ContinuousClock().sleep(for: limit)) == nil }
        let first = await group.next() ?? false
        group.cancelAll()
        return first
    }
}
