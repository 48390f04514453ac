import FeathersSupport

/// Counts the calls and connections that an app reports.
final class MetricsRecorder: DiagnosticSink {
    static let levels = DiagnosticLevels(nil, [.calls: .info, .connection: .info])
    /// The maximum number of methods of services, so that arbitrary paths cannot exhaust the memory.
    static let limit = 1000
    /// The maximum number of endpoints, whose paths often contain ids. They take no place from services.
    static let endpointLimit = 100

    private struct Key: Hashable {
        let path: String
        let method: String
    }

    private struct State {
        var calls: [Key: AppMetrics.Calls] = [:]
        var endpoints = 0
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
            if state.calls[key] == nil {
                let isEndpoint = method == ServiceMethod.endpointRequest.description
                if isEndpoint
                    ? state.endpoints >= Self.endpointLimit : state.calls.count - state.endpoints >= Self.limit
                {
                    key = Key(path: AppMetrics.others, method: isEndpoint ? method : AppMetrics.others)
                } else if isEndpoint {
                    state.endpoints += 1
                }
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

extension ServiceMethod {
    /// The method of every endpoint's call, as seen by hooks.
    package static let endpointRequest: ServiceMethod = "request"
}
