import CCounters
import Feathers
import Foundation

/// Growth with calls to a server that accepts connections and never responds.
///
/// Each call has a deadline of its own, as the requests have that a gateway serves.
enum OverloadGrowth {
    static let name = "growth with calls without a response"
    private static let limit = Duration.seconds(3)

    static func group() throws -> GrowthGroup {
        var group = GrowthGroup("calls without a response")
        let overload = try Overload()
        group.add("calls that wait until their deadline", from: 200, unit: "call") { count in
            GrowthRun(units: count) { _ = try await overload.run(count) }
        }
        return group
    }

    /// Returns what isn't processor time alone: the memory of a call that waits, and how late the last one ended.
    static func notes() async throws -> [String] {
        let overload = try Overload()
        // Excludes what only the first calls of a process need.
        _ = try await overload.run(1_000)
        var costs: [(count: Int, cost: Overload.Figures)] = []
        for count in [1_000, 5_000, 20_000] { costs.append((count, try await overload.run(count))) }
        guard let few = costs.first?.cost, let many = costs.last?.cost else { return [] }
        let figures = costs.map { count, cost in
            String(
                format: "\(Double(count).grouped) take %.0f µs of processor time and %.1f KB each, and the last one "
                    + "ends %.0f ms after its deadline", cost.cpu / .microseconds(1), cost.bytes / 1_024,
                cost.late / .milliseconds(1))
        }
        let growth =
            "from the first to the last, time grows \((many.cpu / few.cpu).times)"
            + " and memory \((many.bytes / few.bytes).times)"
        return ["\(name): \((figures + [growth]).joined(separator: "; "))"]
    }

    /// An app and its server.
    private struct Overload: Sendable {
        /// The cost of a call.
        struct Figures {
            let cpu: Duration
            /// The bytes that are allocated for it while it waits.
            let bytes: Double
            /// How long after its deadline the last call ended.
            let late: Duration
        }

        private let server: ServerProcess
        private let app: FeathersApp
        private let service: Service<JSONValue>

        init() throws {
            server = try ServerProcess(.silent)
            app = FeathersApp(transport: .rest(try server.url))
            service = app.service("messages")
        }

        /// Makes all calls at once, and waits until each has ended at its deadline.
        func run(_ count: Int) async throws -> Figures {
            let (memory, start) = (ccounters_allocated_bytes(), Cost.now())
            let (waiting, late) = try await withThrowingTaskGroup(of: Duration.self) { group in
                let start = ContinuousClock.now
                for id in 0..<count { group.addTask { try await call(id) } }
                // All of them have begun by then, and none has ended.
                try await Task.sleep(until: start + limit * 0.9)
                let waiting = ccounters_allocated_bytes()
                return (waiting, try await group.reduce(.zero, max))
            }
            return Figures(
                cpu: (Cost.now() - start).cpu / count, bytes: Double(waiting - memory) / Double(count),
                late: late)
        }

        /// Makes a call, and returns how long after its deadline it ended.
        private func call(_ id: Int) async throws -> Duration {
            let start = ContinuousClock.now
            do {
                _ = try await app.withDeadline(limit) { try await service.get(id) }
                throw URLError(.badServerResponse)
            } catch let error as FeathersError where error.code == .timeout {
                return ContinuousClock.now - start - limit
            }
        }
    }
}
