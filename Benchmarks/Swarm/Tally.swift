import Feathers
import Foundation
import Synchronization

/// What all clients did, how long it took, and what failed.
final class Tally: Sendable {
    private struct Row {
        let title: String
        var times: [Duration] = []
        var failures: [String: Int] = [:]
    }

    private let start = ContinuousClock.now
    private let rows = Mutex<[Row]>([])

    func measure(_ title: String, _ body: () async throws -> Void) async throws {
        let start = ContinuousClock.now
        do {
            try await body()
        } catch {
            update(title) { $0.failures[(error as? FeathersError)?.message ?? "\(error)", default: 0] += 1 }
            throw error
        }
        add(title, .now - start)
    }

    func add(_ title: String, _ time: Duration) { update(title) { $0.times.append(time) } }

    /// Counts calls or events that are missing from the expected number as failed.
    func expect(_ count: Int, _ title: String) {
        update(title) { row in
            if row.times.count < count { row.failures["did not arrive in time", default: 0] += count - row.times.count }
        }
    }

    func count(of title: String) -> Int { rows.withLock { rows in rows.first { $0.title == title }?.times.count ?? 0 } }
    var hasFailures: Bool { rows.withLock { rows in rows.contains { !$0.failures.isEmpty } } }

    private func update(_ title: String, _ body: (inout Row) -> Void) {
        rows.withLock { rows in
            if !rows.contains(where: { $0.title == title }) { rows.append(Row(title: title)) }
            for index in rows.indices where rows[index].title == title { body(&rows[index]) }
        }
    }

    var table: String {
        let rows = rows.withLock { $0 }
        var lines = [["", "count", "failed", "p50", "p90", "p99", "max"]]
        for row in rows {
            let (sorted, failed) = (row.times.sorted(), row.failures.values.reduce(0, +))
            let times = [50, 90, 99, 100].map { percent in
                sorted.isEmpty
                    ? "–"
                    : String(format: "%.1f ms", sorted[(sorted.count * percent + 99) / 100 - 1] / .milliseconds(1))
            }
            lines.append([row.title, "\(row.times.count)", "\(failed)"] + times)
        }
        let widths = lines[0].indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        let table = lines.map { line in
            zip(line, widths).map { cell, width in String(repeating: " ", count: width - cell.count) + cell }.joined(
                separator: "  ")
        }
        let failures = rows.flatMap { row in row.failures.map { "\(row.title) failed \($1) times: \($0)" } }.sorted()
        return (table + [String(format: "%.1f s", (ContinuousClock.now - start) / .seconds(1))] + failures).joined(
            separator: "\n")
    }
}
