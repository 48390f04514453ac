extension Array where Element: Sendable {
    /// Calls a function with all elements concurrently, and returns the results in the order of the elements.
    ///
    /// A single element is not worth a task. If a call fails, the others are cancelled.
    package func concurrentMap<Result: Sendable>(
        isolation: isolated (any Actor)? = #isolation,
        _ transform: nonisolated(nonsending) @escaping @Sendable (Element) async throws -> Result
    ) async throws -> [Result] {
        guard count > 1 else { return try await isEmpty ? [] : [transform(self[0])] }
        return try await withThrowingTaskGroup(of: (index: Int, result: Result).self) { group in
            for (index, element) in enumerated() { group.addTask { (index, try await transform(element)) } }
            var results = [Result?](repeating: nil, count: count)
            for try await each in group { results[each.index] = each.result }
            return results.compactMap(\.self)
        }
    }
}
