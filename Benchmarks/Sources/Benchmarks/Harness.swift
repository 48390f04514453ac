/// Runs benchmarks in interleaved rounds, so that whatever else the machine does hits all of them alike.
struct Harness {
    let rounds: Int

    /// Measures a group of benchmarks that are compared with each other: the median over the rounds for each.
    func measure(_ group: BenchmarkGroup) async throws -> [Measurement] {
        var samples = [[Double]](repeating: [], count: group.benchmarks.count)
        let clock = ContinuousClock()
        // Round 0 warms up and does not count.
        for round in 0...rounds {
            for (index, benchmark) in group.benchmarks.enumerated() {
                let start = clock.now
                try await benchmark.body()
                let elapsed = start.duration(to: clock.now)
                if round > 0 { samples[index].append(elapsed / .nanoseconds(1) / Double(benchmark.operations)) }
            }
        }
        let medians = samples.map { $0.sorted()[$0.count / 2] }
        return zip(group.benchmarks, medians).map { benchmark, median in
            let reference = benchmark.reference.flatMap { name in
                group.benchmarks.firstIndex { $0.name == name }.map { medians[$0] }
            }
            return Measurement(
                group: group.name, name: benchmark.name, nanoseconds: median, reference: benchmark.reference,
                ratio: reference.map { $0 / median })
        }
    }
}

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
        benchmarks.append(Benchmark(name: name, operations: operations, reference: reference, body: body))
    }
}

struct Benchmark: Sendable {
    let name: String
    let operations: Int
    let reference: String?
    let body: @Sendable () async throws -> Void
}

/// What was measured of one benchmark.
struct Measurement {
    let group: String
    let name: String
    /// Nanoseconds an operation, the median of the rounds.
    let nanoseconds: Double
    let reference: String?
    /// How many times as fast as the reference.
    let ratio: Double?

    var perSecond: Double { 1e9 / nanoseconds }
}
