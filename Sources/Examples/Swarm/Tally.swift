import Feathers
import FeathersSupport
import Foundation

/// What all clients did, how long it took, and what failed.
final class Tally: Sendable {
    /// A line of the script, or the events that a line listens to.
    struct Row: Sendable {
        let title: String
        let isEvent: Bool
        var count = 0
        var failed = 0
        var latencies = Histogram()
    }

    private struct State {
        var rows: [Row]
        var failures: [String: Int] = [:]
    }

    private let start = ContinuousClock.now
    private let clients: Int
    private let state: Locked<State>

    init(_ script: Script, clients: Int) {
        self.clients = clients
        state = Locked(
            State(
                rows: script.lines.map { line in
                    if case .listen = line.step { Row(title: line.title, isEvent: true) } else { Row(title: line.title, isEvent: false) }
                }))
    }

    func measuring(_ index: Int, _ body: () async throws -> Void) async throws {
        let start = ContinuousClock.now
        try await body()
        succeeded(index, after: start.duration(to: .now))
    }

    func succeeded(_ index: Int, after latency: Duration?) {
        state.withLock { state in
            state.rows[index].count += 1
            if let latency { state.rows[index].latencies.add(latency) }
        }
    }

    func failed(_ index: Int, _ error: any Error) {
        state.withLock { state in
            state.rows[index].failed += 1
            state.failures["\(state.rows[index].title): \((error as? FeathersError)?.message ?? "\(error)")", default: 0] += 1
        }
    }

    /// The rows that have something to tell.
    var rows: [Row] { state.withLock { $0.rows.filter { $0.count + $0.failed > 0 } } }
    var failures: [String: Int] { state.withLock { $0.failures } }

    /// Renews one line of a terminal every second, until the task is cancelled.
    func showProgress() async {
        let isTerminal = isatty(STDERR_FILENO) == 1
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            if isTerminal { Swarm.write("\r\u{1B}[K\(progress)") }
        }
        if isTerminal { Swarm.write("\r\u{1B}[K") }
    }

    private var progress: String {
        let (rows, seconds) = (rows, Int(elapsed))
        let (calls, events) = (rows.filter { !$0.isEvent }, rows.filter(\.isEvent))
        return """
            \(seconds) s · \(clients) clients · \(calls.reduce(0) { $0 + $1.count }) steps, \(calls.reduce(0) { $0 + $1.failed }) failed \
            · \(events.reduce(0) { $0 + $1.count }) events
            """
    }

    private var elapsed: Double { start.duration(to: .now) / .seconds(1) }

    var table: String {
        let (rows, failures) = (rows, failures)
        var lines = [["step", "count", "failed", "p50", "p90", "p99", "max"]]
        for row in rows {
            let times = [50, 90, 99, 100].map { row.latencies.isEmpty ? "–" : Self.words(row.latencies.percentile($0)) }
            lines.append([row.isEvent ? "event \(row.title)" : row.title, "\(row.count)", "\(row.failed)"] + times)
        }
        let widths = lines[0].indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        let table = lines.map { line in
            zip(line, widths).enumerated().map { index, cell in
                let blanks = String(repeating: " ", count: cell.1 - cell.0.count)
                return index == 0 ? cell.0 + blanks : blanks + cell.0
            }.joined(separator: "  ")
        }
        let errors = failures.sorted { $0.value > $1.value }.prefix(10).map { "failed \($0.value) ×: \($0.key)" }
        return (table + ["", String(format: "%d clients, %.1f s", clients, elapsed)] + errors).joined(separator: "\n")
    }

    static func words(_ latency: Duration) -> String {
        let milliseconds = latency / .milliseconds(1)
        return milliseconds < 9_995
            ? String(format: milliseconds < 99.95 ? "%.1f ms" : "%.0f ms", milliseconds) : String(format: "%.1f s", milliseconds / 1_000)
    }
}

/// Latencies in buckets that are at most 1/64 wide of their value, so that any number of them takes the same memory.
struct Histogram: Sendable {
    private var buckets: [Int] = []
    private var count = 0
    private var maximum = 0

    var isEmpty: Bool { count == 0 }

    mutating func add(_ latency: Duration) {
        let microseconds = max(0, Int(latency / .microseconds(1)))
        let index = Self.index(microseconds)
        if index >= buckets.count { buckets += Array(repeating: 0, count: index + 1 - buckets.count) }
        buckets[index] += 1
        count += 1
        maximum = max(maximum, microseconds)
    }

    /// The latency that so many percent do not exceed.
    func percentile(_ percent: Int) -> Duration {
        var left = (count * percent + 99) / 100
        for (index, size) in buckets.enumerated() {
            left -= size
            if left <= 0 { return .microseconds(min(Self.end(index), maximum)) }
        }
        return .microseconds(maximum)
    }

    private static func index(_ value: Int) -> Int {
        let shift = max(0, Int.bitWidth - 7 - value.leadingZeroBitCount)
        return shift * 64 + value >> shift
    }

    /// The largest value of a bucket.
    private static func end(_ index: Int) -> Int {
        let shift = max(0, index / 64 - 1)
        return (index - shift * 64 + 1) << shift - 1
    }
}

/// The percentiles as bars over a logarithmic scale.
struct Chart {
    private static let (left, width, height) = (260.0, 560.0, 26.0)
    private let rows: [Tally.Row]

    init(_ rows: [Tally.Row]) { self.rows = rows.filter { !$0.latencies.isEmpty } }

    var svg: String {
        let bottom = Double(rows.count) * Self.height + 30
        var parts = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 \(bottom + 40)" font-family="sans-serif" font-size="12">
            <rect width="100%" height="100%" fill="white"/>
            <text x="10" y="18">Latency: p50 (dark), p90, p99 and max (light), logarithmic</text>
            """
        ]
        for decade in 0...5 {
            let x = Self.x(.microseconds(100) * Int(pow(10, Double(decade))))
            parts.append("<path d='M\(x) 26V\(bottom)' stroke='#ddd'/>")
            parts.append(
                "<text x='\(x)' y='\(bottom + 16)' text-anchor='middle'>\(["0.1 ms", "1 ms", "10 ms", "100 ms", "1 s", "10 s"][decade])</text>"
            )
        }
        for (index, row) in rows.enumerated() {
            let y = 32 + Double(index) * Self.height
            let title = row.title.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            parts.append("<text x='\(Self.left - 8)' y='\(y + 13)' text-anchor='end'>\(row.isEvent ? "event " : "")\(title)</text>")
            for (percent, color) in [(100, "#dbe9f6"), (99, "#a6cbe6"), (90, "#5b9fd0"), (50, "#1f5f99")] {
                let end = Self.x(row.latencies.percentile(percent))
                parts.append(
                    "<rect x='\(Self.left)' y='\(y)' width='\(max(1, end - Self.left))' height='\(Self.height - 8)' fill='\(color)'/>")
            }
        }
        return parts.joined(separator: "\n") + "\n</svg>\n"
    }

    private static func x(_ latency: Duration) -> Double {
        let position = log10(max(latency / .microseconds(100), 1)) / 5
        return (left + min(position, 1) * width).rounded()
    }
}
