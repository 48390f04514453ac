/// The measurements as a human-readable table.
struct Report {
    let results: Results

    var table: String {
        let tables = [results.measurements.isEmpty ? nil : measurements.text, results.growth.isEmpty ? nil : Self.growth(of: results).text]
        return (tables.compactMap(\.self) + results.notes).joined(separator: "\n\n")
    }

    private var measurements: TextTable {
        var table = TextTable(
            ("benchmark", .left), ("ns/op", .right), ("CPU ns/op", .right), ("per second", .right), ("ratio", .right),
            ("CPU ratio", .right), ("compared with", .left))
        table.rows = results.measurements.map { measurement in
            [
                "\(measurement.group): \(measurement.name)", measurement.nanoseconds.grouped, measurement.cpuNanoseconds.grouped,
                measurement.perSecond.grouped, measurement.ratio?.times ?? "", measurement.cpuRatio?.times ?? "",
                measurement.reference ?? "",
            ]
        }
        return table
    }

    /// The cost per unit at 1, 10 and 100 times the count.
    static func growth(of results: Results) -> TextTable {
        var table = TextTable(
            ("growth", .left), ("count", .left), ("unit", .left), ("CPU at 1×", .right), ("at 10×", .right), ("at 100×", .right),
            ("per decade", .right), ("", .left))
        table.rows = results.growth.map { growth in
            ["\(growth.group): \(growth.name)", growth.sizesInWords, growth.unit] + growth.points.map(\.cpuNanoseconds.nanosecondsInWords)
                + [growth.factors.map(\.times).joined(separator: " "), growth.verdict]
        }
        return table
    }
}
