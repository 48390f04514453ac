import FeathersSupport

/// Counts the calls and connections that an app reports.
final class MetricsRecorder: DiagnosticSink {
    static let levels = DiagnosticLevels(nil, [.calls: .info, .connection: .info])
    /// The maximum number of methods, so that arbitrary paths cannot exhaust the memory.
    static let limit = 1000
    /// The path and method under which additional calls are counted.
    static let others = "(others)"

    private struct Key: Hashable {
        let path: String
        let method: String
    }

    private struct State {
        var calls: [Key: AppMetrics.Calls] = [:]
        var connections = 0
    }

    private let state = Locked(State())

    func receive(_ event: DiagnosticEvent) {
        switch event.domain {
        case .calls: count(event)
        case .connection where event["recovered"] != nil: state.withLock { $0.connections += 1 }
        default: break
        }
    }

    var counted: (calls: [AppMetrics.Calls], connections: Int) {
        let (calls, connections) = state.withLock { (Array($0.calls.values), $0.connections) }
        return (calls.sorted { ($0.path, $0.method) < ($1.path, $1.method) }, connections)
    }

    private func count(_ event: DiagnosticEvent) {
        guard case .string(let path)? = event[.path], case .string(let method)? = event[.method] else { return }
        let (outcome, duration) = (event[.outcome], event.duration)
        state.withLock { state in
            var key = Key(path: path, method: method)
            if state.calls[key] == nil, state.calls.count >= Self.limit {
                key = Key(path: Self.others, method: Self.others)
            }
            var calls = state.calls[key] ?? AppMetrics.Calls(path: key.path, method: key.method)
            if case .string(let outcome)? = outcome {
                calls.outcomes[outcome, default: 0] += 1
                if let duration { calls.durations.add(duration) }
            } else {
                calls.retries += 1
            }
            state.calls[key] = calls
        }
    }
}
