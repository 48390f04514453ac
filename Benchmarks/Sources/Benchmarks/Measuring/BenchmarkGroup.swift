/// Benchmarks that run in alternation, because they are compared with each other.
struct BenchmarkGroup: Sendable {
    let name: String
    var benchmarks: [Benchmark] = []

    init(_ name: String) {
        self.name = name
    }

    /// Adds a benchmark that is compared with the benchmark `reference` of this group.
    ///
    /// One run of `body` performs `operations` operations.
    mutating func add(
        _ name: String, operations: Int = 1, comparedWith reference: String? = nil,
        _ body: @escaping @Sendable () async throws -> Void
    ) {
        benchmarks.append(
            Benchmark(name: name, operations: operations, reference: reference) {
                try await body()
                return nil
            })
    }

    /// Adds a benchmark that measures itself: because it runs in another process, or because its setup and teardown
    /// must not count.
    mutating func addMeasured(
        _ name: String, operations: Int, comparedWith reference: String?,
        _ body: @escaping @Sendable () async throws -> Cost
    ) {
        benchmarks.append(Benchmark(name: name, operations: operations, reference: reference, body: body))
    }
}

struct Benchmark: Sendable {
    let name: String
    let operations: Int
    let reference: String?
    /// Runs the operations. Returns their cost if it measures that itself; otherwise nil.
    let body: @Sendable () async throws -> Cost?
}
