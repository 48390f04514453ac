/// Costs that are measured at 1, 10 and 100 times as many of something, to find what grows faster than it should.
struct GrowthGroup: Sendable {
    let name: String
    private(set) var series: [GrowthSeries] = []

    init(_ name: String) {
        self.name = "growth with \(name)"
    }

    /// Adds a series.
    /// - Parameters:
    ///   - first: how many there are at first; then 10 and 100 times as many.
    ///   - unit: what is paid for, the same however many there are where the cost grows linearly.
    ///   - note: why it grows, for what is known to grow.
    ///   - prepare: sets the scene for so many; what it returns is measured.
    mutating func add(
        _ name: String, from first: Int, unit: String, note: String? = nil, _ prepare: @escaping @Sendable (Int) async throws -> GrowthRun
    ) {
        series.append(GrowthSeries(name: name, sizes: [first, first * 10, first * 100], unit: unit, note: note, prepare: prepare))
    }
}

struct GrowthSeries: Sendable {
    let name: String
    let sizes: [Int]
    let unit: String
    let note: String?
    let prepare: @Sendable (Int) async throws -> GrowthRun
}

/// What is measured at one size.
struct GrowthRun: Sendable {
    /// How many units one run of `body` pays for.
    let units: Int
    let body: @Sendable () async throws -> Void

    init(units: Int, _ body: @escaping @Sendable () async throws -> Void) {
        self.units = units
        self.body = body
    }
}

extension Harness {
    /// Measures a group's series; its sizes take turns, so that whatever else the machine does hits all of them alike.
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
                    size: size, nanoseconds: measurement.nanoseconds.rounded(places: 1),
                    cpuNanoseconds: measurement.cpuNanoseconds.rounded(places: 1))
            }
            measurements.append(
                GrowthMeasurement(group: group.name, name: series.name, unit: series.unit, note: series.note, points: points))
        }
        return measurements
    }
}
