/// Runs benchmarks in interleaved rounds, so that whatever else the machine does hits all of them alike.
struct Harness {
    /// One thing to measure: `body` does `operations` operations.
    struct Benchmark {
        let name: String
        let operations: Int
        let body: () async throws -> Void
    }

    /// What was measured: the median over the rounds.
    struct Measurement {
        let name: String
        let nanosecondsPerOperation: Double
        var operationsPerSecond: Double { 1e9 / nanosecondsPerOperation }
    }

    let rounds: Int

    /// Measures a group of benchmarks that are compared with each other.
    func measure(_ benchmarks: [Benchmark]) async throws -> [Measurement] {
        var samples = [[Double]](repeating: [], count: benchmarks.count)
        let clock = ContinuousClock()
        // Round 0 warms up and does not count.
        for round in 0...rounds {
            for (index, benchmark) in benchmarks.enumerated() {
                let start = clock.now
                try await benchmark.body()
                let elapsed = clock.now - start
                if round > 0 { samples[index].append(elapsed / .nanoseconds(1) / Double(benchmark.operations)) }
            }
        }
        return zip(benchmarks, samples).map { benchmark, samples in
            Measurement(name: benchmark.name, nanosecondsPerOperation: samples.sorted()[samples.count / 2])
        }
    }
}
