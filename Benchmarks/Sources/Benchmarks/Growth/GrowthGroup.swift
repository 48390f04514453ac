/// Costs measured at 1, 10 and 100 times a count, to find costs that grow faster than expected.
struct GrowthGroup: Sendable {
    let name: String
    private(set) var series: [GrowthSeries] = []

    init(_ name: String) {
        self.name = "growth with \(name)"
    }

    /// Adds a series that starts at the count `first`, followed by 10 and 100 times as many.
    ///
    /// `prepare` creates the setup for a count, and the run it returns is measured. The cost of a `unit` is the same at
    /// all counts if the total cost is linear. `note` gives the reason for a known growth.
    mutating func add(
        _ name: String, from first: Int, unit: String, note: String? = nil,
        _ prepare: @escaping @Sendable (Int) async throws -> GrowthRun
    ) {
        series.append(
            GrowthSeries(name: name, sizes: [first, first * 10, first * 100], unit: unit, note: note, prepare: prepare))
    }
}

struct GrowthSeries: Sendable {
    let name: String
    let sizes: [Int]
    let unit: String
    let note: String?
    let prepare: @Sendable (Int) async throws -> GrowthRun
}

/// The measured run at one count.
struct GrowthRun: Sendable {
    /// The number of units that one run of `body` contains.
    let units: Int
    let body: @Sendable () async throws -> Void

    init(units: Int, _ body: @escaping @Sendable () async throws -> Void) {
        self.units = units
        self.body = body
    }
}

extension Harness {
    /// Measures a group's series. Sizes alternate, so that other load on the machine affects all of them equally.
    func measure(_ group: GrowthGroup) async throws -> [GrowthMeasurement] {
        var measurements: [GrowthMeasurement] = []
        for series in group.series {
            var benchmarks = BenchmarkGroup("\(group.name), \(series.name)")
            for size in series.sizes {
                let run = try await series.prepare(size)
                benchmarks.add("\(size)", operations: run.units, run.body)
            }
            let points = zip(series.sizes, try await measure(benchmarks)).map { size, measurement in
                GrowthMeasurement.Point(
                    size: size, nanoseconds: measurement.nanoseconds,
                    cpuNanoseconds: measurement.cpuNanoseconds)
            }
            measurements.append(
                GrowthMeasurement(
                    group: group.name, name: series.name, unit: series.unit, note: series.note, points: points))
        }
        return measurements
    }
}
