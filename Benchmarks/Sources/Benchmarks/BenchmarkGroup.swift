/// Benchmarks that are run in turns because they are compared.
struct BenchmarkGroup: Sendable {
    let name: String
    var benchmarks: [Benchmark] = []

    init(_ name: String) {
        self.name = name
    }

    /// Adds a benchmark.
    /// - Parameters:
    ///   - operations: how many operations one run of `body` does.
    ///   - reference: the benchmark of this group it is compared with.
    mutating func add(
        _ name: String, operations: Int = 1, comparedWith reference: String? = nil, _ body: @escaping @Sendable () async throws -> Void
    ) {
        benchmarks.append(
            Benchmark(name: name, operations: operations, reference: reference) {
                try await body()
                return nil
            })
    }

    /// Adds a benchmark that runs in another process and measures itself.
    mutating func addPeer(
        _ name: String, operations: Int, comparedWith reference: String, _ body: @escaping @Sendable () async throws -> Cost
    ) {
        benchmarks.append(Benchmark(name: name, operations: operations, reference: reference, body: body))
    }
}

struct Benchmark: Sendable {
    let name: String
    let operations: Int
    let reference: String?
    /// Does the operations; returns what they cost where it knows better than whoever calls it.
    let body: @Sendable () async throws -> Cost?
}
