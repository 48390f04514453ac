import Foundation

/// The changes between two results.
///
/// Ratios within a run are comparable across machines and under any load. Times are comparable only on the same machine.
struct Comparison {
    private let earlier: Results
    private let later: Results

    init(_ earlier: Results, _ later: Results) {
        self.earlier = earlier
        self.later = later
    }

    var table: String {
        let isSameMachine = earlier.machine.isLike(later.machine)
        var lines = ["Before: \(earlier.machine.title)", "Now:    \(later.machine.title)"]
        lines.append(
            isSameMachine
                ? "Change: of the ratio, or of the processor time without one; above 1 is an improvement. Small changes in times are noise."
                : "The machines differ: only ratios within a run are compared.")
        if let busy = [earlier, later].first(where: { !$0.machine.wasQuiet }) {
            lines.append("In one of the runs, \(busy.machine.othersInWords): only ratios are reliable.")
        }
        lines += [changes(isSameMachine).text] + growth(isSameMachine) + absent
        return lines.joined(separator: "\n")
    }

    private func changes(_ isSameMachine: Bool) -> TextTable {
        var table = TextTable(
            ("benchmark", .left), ("ratio before", .right), ("now", .right), ("CPU ratio before", .right), ("now", .right),
            ("CPU ns/op before", .right), ("now", .right), ("change", .right))
        for now in later.measurements {
            guard let then = earlier.measurement(now.group, now.name) else { continue }
            let isComparable = then.reference == now.reference
            let ratios = isComparable ? (then.cpuRatio, now.cpuRatio) : (nil, nil)
            let times = isSameMachine ? (then.cpuNanoseconds, now.cpuNanoseconds) : nil
            guard ratios.0 != nil || times != nil else { continue }
            let change =
                if let before = ratios.0, let after = ratios.1 { after / before } else { times.map { $0.0 / $0.1 } }
            table.rows.append([
                "\(now.group): \(now.name)", isComparable ? then.ratio?.times ?? "" : "", isComparable ? now.ratio?.times ?? "" : "",
                ratios.0?.times ?? "", ratios.1?.times ?? "", times?.0.grouped ?? "", times?.1.grouped ?? "", change?.times ?? "",
            ])
        }
        return table
    }

    /// The growth of the cost per unit from 1× to 100×, which is comparable across machines.
    private func growth(_ isSameMachine: Bool) -> [String] {
        var table = TextTable(
            ("growth", .left), ("1× to 100× before", .right), ("now", .right), ("CPU per unit before", .right), ("now", .right))
        for now in later.growth {
            guard let then = earlier.growth.first(where: { $0.group == now.group && $0.name == now.name }) else { continue }
            let times = [then, now].map { isSameMachine ? $0.points.last?.cpuNanoseconds.nanosecondsInWords ?? "" : "" }
            table.rows.append(["\(now.group): \(now.name)", then.total.times, now.total.times] + times)
        }
        return table.rows.isEmpty ? [] : ["", table.text]
    }

    /// The benchmarks that only one of the results contains.
    private var absent: [String] {
        let new = later.measurements.filter { earlier.measurement($0.group, $0.name) == nil }
        // A run with '--only' doesn't contain the other groups, so they aren't missing.
        let groups = Set(later.measurements.map(\.group))
        let gone = earlier.measurements.filter { groups.contains($0.group) && later.measurement($0.group, $0.name) == nil }
        func line(_ title: String, _ measurements: [Measurement]) -> [String] {
            measurements.isEmpty ? [] : ["\(title): \(measurements.map { "\($0.group): \($0.name)" }.joined(separator: "; "))"]
        }
        return line("Only now", new) + line("Only before", gone)
    }
}
