import Feathers
import Foundation
import Synchronization

/// The fan-out of a server process: one connection, many readers of its events, and a rate that doubles until a reader
/// falls behind.
final class FanOut: Sendable {
    private static let seconds = 2
    private static let firstRate = 100
    /// The number of times a second at which records are created.
    private static let ticks = 100

    private struct Step: Sendable {
        var rate: Int
        var sent: Double
        /// The number of deliveries in a second of sending.
        var delivered: Double
        var dropped: Int
        var latencies: [Int64]
    }

    private let options: Options
    private let delivered = Atomic<Int>(0)
    private let latencies = Mutex<[Int64]>([])

    init(_ options: Options) { self.options = options }

    /// Runs until a reader falls behind, or the server takes no more records.
    /// - Returns: A table of the rates.
    func run() async throws -> String {
        let (app, sender) = (connection(), connection())
        try await app.connect()
        try await sender.connect()
        let before = Self.memory
        let streams = (0..<options.readers).map { _ in app.service(options.service).events(.created) }
        let (steps, memory) = try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, stream) in streams.enumerated() {
                group.addTask {
                    for await record in stream where record["swarm"]?.string == self.options.run {
                        if index == 0 { self.note(record) }
                        self.delivered.add(1, ordering: .relaxed)
                    }
                }
            }
            defer { group.cancelAll() }
            // Until each reader waits.
            try await Task.sleep(for: .seconds(1))
            let memory = Double(max(Self.memory - before, 0)) / Double(options.readers)
            return (try await self.steps(app, sender), memory)
        }
        await sender.disconnect()
        await app.disconnect()
        return Self.table(of: steps, readers: options.readers, memory)
    }

    private func connection() -> FeathersApp {
        FeathersApp(
            transport: .socketIO(options.url) { ($0.transports, $0.callTimeout) = ([.webSocket], options.timeout) })
    }

    private func note(_ record: JSONValue) {
        let latency = Self.now - (record["sentAt"]?.integer ?? Self.now)
        latencies.withLock { $0.append(latency) }
    }

    private func steps(_ app: FeathersApp, _ sender: FeathersApp) async throws -> [Step] {
        var steps: [Step] = []
        var rate = Self.firstRate
        while true {
            delivered.store(0, ordering: .relaxed)
            latencies.withLock { $0 = [] }
            let start = ContinuousClock.now
            try await send(rate, from: sender)
            let elapsed = (ContinuousClock.now - start) / .seconds(1)
            let sent = Double(rate * Self.seconds) / elapsed
            let expected = rate * Self.seconds * options.readers
            for _ in 0..<100 where delivered.load(ordering: .relaxed) < expected {
                try await Task.sleep(for: .milliseconds(10))
            }
            let count = delivered.load(ordering: .relaxed)
            steps.append(
                Step(
                    rate: rate, sent: sent, delivered: Double(count) / elapsed,
                    dropped: app.metrics.events.reduce(0) { $0 + $1.dropped }, latencies: latencies.withLock { $0 }))
            if count < expected || sent < 0.8 * Double(rate) { return steps }
            rate *= 2
        }
    }

    /// Creates records at a rate, some at each tick.
    private func send(_ rate: Int, from sender: FeathersApp) async throws {
        let (service, start) = (sender.service(options.service), ContinuousClock.now)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for tick in 0..<Self.ticks * Self.seconds {
                try await Task.sleep(until: start + .milliseconds(1_000 * tick / Self.ticks))
                for _ in 0..<rate / Self.ticks {
                    group.addTask {
                        _ = try await service.create(
                            ["text": "Hello", "swarm": .string(self.options.run), "sentAt": .integer(Self.now)])
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private static func table(of steps: [Step], readers: Int, _ memory: Double) -> String {
        var lines = ["records/s       sent/s   deliveries/s      dropped          p50          p99"]
        for step in steps {
            let sorted = step.latencies.sorted()
            let times = [50, 99].map { percent in
                sorted.isEmpty
                    ? "–" : String(format: "%.1f ms", Double(sorted[(sorted.count - 1) * percent / 100]) / 1e3)
            }
            let cells = [
                String(format: "%.0f", step.sent), String(format: "%.0f", step.delivered), "\(step.dropped)", times[0],
                times[1],
            ]
            lines.append(
                "\(step.rate)".padded(to: 9)
                    + zip(cells, [13, 15, 13, 13, 13]).map { $0.padded(to: $1) }.joined())
        }
        lines.append(String(format: "%d readers of one connection, %.1f KB each", readers, memory / 1024))
        return lines.joined(separator: "\n")
    }

    /// The time in microseconds since 1970.
    private static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1e6) }

    /// The greatest memory of this process so far, in bytes.
    private static var memory: Int {
        var usage = rusage()
        #if canImport(Glibc)
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
            return usage.ru_maxrss * 1024
        #else
            getrusage(RUSAGE_SELF, &usage)
            return usage.ru_maxrss
        #endif
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { String(repeating: " ", count: max(width - count, 0)) + self }
}
