import Foundation

/// A result in Markdown: the README's part, and the page of everything.
struct Pages {
    private let results: Results
    private var machine: Machine { results.machine }

    init(_ results: Results) {
        self.results = results
    }

    /// One table and one chart. Of a machine that had more to do only the chart's place is shown: such numbers are no facts.
    var readme: String {
        let folder = "Benchmarks/results"
        guard machine.wasQuiet else {
            return """

                The numbers of a quiet machine go here: `swift run -c release --package-path Benchmarks Benchmarks --save`. Those of a busy one are in
                [\(folder)](\(folder)/benchmarks.md).

                """
        }
        return """

            ![How many times as fast as others that do the same](\(folder)/benchmarks.svg)

            \(Story(results).markdown)

            \(machine.title); an operation, the median of \(machine.rounds) rounds. All clients talk to the same server on the same machine; 'ws by
            hand' is Node's ws and the least of Socket.IO. [All numbers and how costs grow](\(folder)/benchmarks.md).

            """
    }

    /// All that was measured.
    var whole: String {
        let busy = """
            > Measured while \(machine.othersInWords): ratios and processor times say something, times do not.


            """
        return """
            # Benchmarks

            \(machine.title); the median of \(machine.rounds) rounds. Made by `swift run -c release --package-path Benchmarks Benchmarks --save`.

            \(machine.wasQuiet ? "" : busy)![How many times as fast as others that do the same](benchmarks.svg)

            \(Story(results).markdown)

            ## How costs grow

            ![What a unit costs at 1, 10 and 100 times as many](growth.svg)

            What a unit costs at 1, 10 and 100 times as many: the same, where the whole cost is linear. What is paid once makes units dearer where they are few;
            where many outgrow the processor's caches they get dearer too.

            \(Report.growth(of: results).markdown)

            ## All measurements

            Every benchmark is compared within its group, whose members take turns. Above 1× is faster, or cheaper, than what it is compared with.
            \(groups)

            \(results.notes.map { "* \($0)" }.joined(separator: "\n"))

            """
    }

    private var groups: String {
        var names: [String] = []
        for measurement in results.measurements where !names.contains(measurement.group) { names.append(measurement.group) }
        return names.map { name in
            var table = TextTable(
                ("", .left), ("takes", .right), ("CPU", .right), ("ratio", .right), ("CPU ratio", .right), ("to", .left))
            table.rows = results.measurements.filter { $0.group == name }.map { measurement in
                [
                    measurement.name, measurement.nanoseconds.nanosecondsInWords, measurement.cpuNanoseconds.nanosecondsInWords,
                    measurement.ratio?.times ?? "", measurement.cpuRatio?.times ?? "", measurement.reference ?? "",
                ]
            }
            return "\n### \(name)\n\n\(table.markdown)"
        }.joined(separator: "\n")
    }
}
