import FeathersSupport

extension AppMetrics {
    /// The circuit breakers of one service.
    public struct Circuits: Sendable, Hashable {
        /// The service's path; `_ALL` for a circuit of all services.
        public let path: String
        /// The number of circuits that are open: at most 1, unless each user has one.
        public fileprivate(set) var open = 0
        /// How often a circuit has opened.
        public fileprivate(set) var openings = 0
    }

    /// The path under which what exceeds a limit is counted.
    static let others = "_OTHER"
    /// The path of what concerns all services.
    static let all = "_ALL"
}

/// The circuits that have opened in an app.
final class CircuitCounts: Sendable {
    /// The number of paths that are distinguished.
    private static let limit = 100

    private let counts = Locked<[String: AppMetrics.Circuits]>([:])

    /// The circuits that have opened, by path.
    var all: [AppMetrics.Circuits] { counts.withLock { $0.values.sorted { $0.path < $1.path } } }

    /// The paths whose circuits are open.
    var open: [String] { all.filter { $0.open > 0 }.map(\.path) }

    func changed(at path: String, isOpen: Bool) {
        counts.withLock { counts in
            let path = counts[path] == nil && counts.count >= Self.limit ? AppMetrics.others : path
            var circuits = counts[path] ?? AppMetrics.Circuits(path: path)
            circuits.open += isOpen ? 1 : -1
            circuits.openings += isOpen ? 1 : 0
            counts[path] = circuits
        }
    }
}

extension FeathersApp {
    /// Records that a circuit has opened or closed.
    func circuitChanged(at path: String, isOpen: Bool) {
        circuitCounts.changed(at: path, isOpen: isOpen)
        noteHealth()
    }
}
