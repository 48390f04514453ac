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
    mutating func addPeer(_ name: String, operations: Int, _ body: @escaping @Sendable () async throws -> Cost) {
        benchmarks.append(Benchmark(name: name, operations: operations, reference: nil, body: body))
    }
}

struct Benchmark: Sendable {
    let name: String
    let operations: Int
    let reference: String?
    /// Does the operations; returns what they cost where it knows better than whoever calls it.
    let body: @Sendable () async throws -> Cost?
}

/// What was measured of one benchmark.
struct Measurement {
    let group: String
    let name: String
    /// Nanoseconds an operation, the median of the rounds.
    let nanoseconds: Double
    /// Nanoseconds of processor time an operation, of all threads of the process together.
    let cpuNanoseconds: Double
    let reference: String?
    /// How many times as fast as the reference.
    let ratio: Double?
    /// How many times less processor time than the reference.
    let cpuRatio: Double?

    var perSecond: Double { 1e9 / nanoseconds }
}
