/// The changes between two results.
///
/// Ratios within a run are comparable across machines and under any load. Times are comparable only on the same
/// machine.
struct Comparison {
    let earlier: Results
    let later: Results

    private var isSameMachine: Bool { earlier.machine.isLike(later.machine) }

    var text: String {
        var lines = ["Before: \(earlier.machine.title)", "Now:    \(later.machine.title)"]
        lines.append(
            isSameMachine
                ? "Change: of the ratio, or of the processor time without one; above 1 is an improvement. "
                    + "Small changes in times are noise."
                : "The machines differ: only ratios within a run are compared.")
        if let busy = [earlier, later].first(where: { !$0.machine.wasQuiet }) {
            lines.append("In one of the runs, \(busy.machine.othersInWords): only ratios are reliable.")
        }
        return (lines + [changes, growth].filter { !$0.rows.isEmpty }.map(\.text) + absent).joined(separator: "\n")
    }

    private var changes: TextTable {
        var table = TextTable(
            ("benchmark", .left), ("CPU ratio before", .right), ("now", .right), ("CPU before", .right),
            ("now", .right), ("change", .right)
        )
        for now in later.measurements {
            guard let then = earlier.measurement(now.group, now.name) else { continue }
            let before = then.reference == now.reference ? then.cpuRatio : nil
            let times = isSameMachine ? [then, now].map(\.cpuNanoseconds) : []
            guard before != nil || !times.isEmpty else { continue }
            let change =
                before.flatMap { before in now.cpuRatio.map { $0 / before } }
                ?? times.first.map { $0 / now.cpuNanoseconds }
            let ratios = before == nil ? ["", ""] : [before?.times ?? "", now.cpuRatio?.times ?? ""]
            let words = times.isEmpty ? ["", ""] : times.map(\.nanosecondsInWords)
            table.rows.append(["\(now.group): \(now.name)"] + ratios + words + [change?.times ?? ""])
        }
        return table
    }

    /// The growth of the cost per unit from 1× to 100×, which is comparable across machines.
    private var growth: TextTable {
        var table = TextTable(("growth", .left), ("1× to 100× before", .right), ("now", .right))
        for now in later.growth {
            guard let then = earlier.growth.first(where: { $0.group == now.group && $0.name == now.name }) else {
                continue
            }
            table.rows.append(["\(now.group): \(now.name)", then.total.times, now.total.times])
        }
        return table
    }

    /// The benchmarks that only one of the results contains. A run with '--only' doesn't contain the other groups, so
    /// they aren't missing.
    private var absent: [String] {
        let groups = Set(later.measurements.map(\.group))
        func line(_ title: String, _ results: Results, _ others: Results) -> [String] {
            let names = results.measurements.filter {
                groups.contains($0.group) && others.measurement($0.group, $0.name) == nil
            }
            return names.isEmpty ? [] : ["\(title): \(names.map { "\($0.group): \($0.name)" }.joined(separator: "; "))"]
        }
        return line("Only now", later, earlier) + line("Only before", earlier, later)
    }
}
