extension Array where Element: Sendable {
    /// Calls a function with all elements concurrently, and returns the results in the order of the elements.
    ///
    /// A single element is not worth a task. If a call fails, the others are cancelled.
    /// - Parameter executor: Where tasks run; nil for the caller's preference. Work that takes processors should not stay on one thread.
    package func concurrentMap<Result: Sendable>(
        on executor: (any TaskExecutor)? = nil, isolation: isolated (any Actor)? = #isolation,
        _ transform: nonisolated(nonsending) @escaping @Sendable (Element) async throws -> Result
    ) async throws -> [Result] {
        guard count > 1 else { return try await isEmpty ? [] : [transform(self[0])] }
        return try await withThrowingTaskGroup(of: (index: Int, result: Result).self) { group in
            for (index, element) in enumerated() { group.addTask(executorPreference: executor) { (index, try await transform(element)) } }
            var results = [Result?](repeating: nil, count: count)
            for try await each in group { results[each.index] = each.result }
            return results.compactMap(\.self)
        }
    }
}
