extension Array where Element: Sendable {
    /// Calls a function with all elements concurrently, and returns the results in the order of the elements.
    ///
    /// A single element is not worth a task. If a call fails, the others are cancelled.
    /// - Parameter limit: The maximum number of calls at a time, at least 1.
    package func concurrentMap<Result: Sendable>(
        atMost limit: Int = .max, isolation: isolated (any Actor)? = #isolation,
        _ transform: nonisolated(nonsending) @escaping @Sendable (Element) async throws -> Result
    ) async throws -> [Result] {
        guard count > 1 else { return try await isEmpty ? [] : [transform(self[0])] }
        return try await withThrowingTaskGroup(of: (index: Int, result: Result).self) { group in
            var results = [Result?](repeating: nil, count: count)
            for (index, element) in enumerated() {
                if index >= limit, let each = try await group.next() { results[each.index] = each.result }
                group.addTask { (index, try await transform(element)) }
            }
            for try await each in group { results[each.index] = each.result }
            return results.compactMap(\.self)
        }
    }
}
