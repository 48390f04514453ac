import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Runs benchmarks in interleaved rounds, so that other load on the machine affects all of them equally.
struct Harness {
    let rounds: Int

    /// Measures a group of benchmarks, and returns each one's median over the rounds.
    func measure(_ group: BenchmarkGroup) async throws -> [Measurement] {
        var samples = [[Cost]](repeating: [], count: group.benchmarks.count)
        // Round 0 is a warm-up.
        for round in 0...rounds {
            for (index, benchmark) in group.benchmarks.enumerated() {
                Self.show("\(group.name), round \(round) of \(rounds): \(benchmark.name)")
                defer { Self.show("") }
                let cost = try await cost(of: benchmark)
                if round > 0 { samples[index].append(cost) }
            }
        }
        let medians = zip(group.benchmarks, samples).map { benchmark, samples in
            (
                elapsed: (Self.median(samples.map(\.elapsed)) / Double(benchmark.operations)).rounded(places: 1),
                cpu: (Self.median(samples.map(\.cpu)) / Double(benchmark.operations)).rounded(places: 1)
            )
        }
        return zip(group.benchmarks, medians).map { benchmark, median in
            let reference = benchmark.reference.flatMap { name in group.benchmarks.firstIndex { $0.name == name } }
            return Measurement(
                group: group.name, name: benchmark.name, nanoseconds: median.elapsed, cpuNanoseconds: median.cpu,
                reference: benchmark.reference,
                ratio: reference.map { (medians[$0].elapsed / median.elapsed).rounded(places: 4) },
                cpuRatio: reference.map { (medians[$0].cpu / median.cpu).rounded(places: 4) })
        }
    }

    /// Shows progress on standard error if it is a terminal.
    private static func show(_ progress: String) {
        guard isatty(STDERR_FILENO) == 1 else { return }
        FileHandle.standardError.write(Data("\r\u{1B}[K\(progress)".utf8))
    }

    private func cost(of benchmark: Benchmark) async throws -> Cost {
        let start = Cost.now()
        return try await benchmark.body() ?? Cost.now() - start
    }

    private static func median(_ durations: [Duration]) -> Double {
        durations.sorted()[durations.count / 2] / .nanoseconds(1)
    }
}

/// The elapsed time and the processor time of an operation.
struct Cost: Sendable, AdditiveArithmetic {
    var elapsed = Duration.zero
    var cpu = Duration.zero

    static let zero = Cost()

    static func + (left: Cost, right: Cost) -> Cost {
        Cost(elapsed: left.elapsed + right.elapsed, cpu: left.cpu + right.cpu)
    }
    static func - (left: Cost, right: Cost) -> Cost {
        Cost(elapsed: left.elapsed - right.elapsed, cpu: left.cpu - right.cpu)
    }

    /// Returns the time on both clocks: since a fixed moment, and what this process has used.
    static func now() -> Cost {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        let elapsed = ContinuousClock.Instant.now - Self.origin
        return Cost(elapsed: elapsed, cpu: .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec))
    }

    private static let origin = ContinuousClock.Instant.now
}
