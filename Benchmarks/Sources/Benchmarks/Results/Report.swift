/// The measurements as tables.
enum Report {
    static func text(of results: Results) -> String {
        let measurements =
            results.measurements.isEmpty ? nil : table(of: results.measurements) { "\($0.group): \($0.name)" }
        let tables = [measurements, results.growth.isEmpty ? nil : growth(of: results)]
        return (tables.compactMap { $0?.text } + results.notes).joined(separator: "\n\n")
    }

    static func table(of measurements: [Measurement], titles: (Measurement) -> String) -> TextTable {
        var table = TextTable(
            ("", .left), ("time", .right), ("CPU", .right), ("ratio", .right), ("CPU ratio", .right),
            ("compared with", .left))
        table.rows = measurements.map { measurement in
            [
                titles(measurement), measurement.nanoseconds.nanosecondsInWords,
                measurement.cpuNanoseconds.nanosecondsInWords,
                measurement.ratio?.times ?? "", measurement.cpuRatio?.times ?? "", measurement.reference ?? "",
            ]
        }
        return table
    }

    /// The cost per unit at 1, 10 and 100 times the count.
    static func growth(of results: Results) -> TextTable {
        var table = TextTable(
            ("growth", .left), ("count", .left), ("unit", .left), ("CPU at 1×", .right), ("at 10×", .right),
            ("at 100×", .right),
            ("per decade", .right), ("", .left))
        table.rows = results.growth.map { growth in
            ["\(growth.group): \(growth.name)", growth.sizesInWords, growth.unit]
                + growth.points.map(\.cpuNanoseconds.nanosecondsInWords)
                + [growth.factors.map(\.times).joined(separator: " "), growth.verdict]
        }
        return table
    }
}
