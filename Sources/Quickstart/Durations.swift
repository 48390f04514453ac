import Feathers
import Synchronization

/// Collects the events that the logging hook reports.
final class Durations: Sendable {
    private let calls = Mutex<[DiagnosticEvent]>([])

    func add(_ call: DiagnosticEvent) { calls.withLock { $0.append(call) } }

    var summary: String {
        let calls = calls.withLock { $0 }
        let total = calls.reduce(Duration.zero) { $0 + ($1.duration ?? .zero) }
        let failed = calls.count { $0.error != nil }
        let milliseconds = Int((total / .milliseconds(1)).rounded())
        return "\(milliseconds) ms in \(calls.count) calls, \(failed) of them refused"
    }
}
