import FeathersSupport

/// Counts the calls, connections and refreshes that an app reports.
///
/// What it distinguishes is bounded, so that made-up paths exhaust neither the memory nor the metrics system. Services that the app has registered are always distinguished.
final class MetricsRecorder: DiagnosticSink {
    static let levels = DiagnosticLevels(nil, [.calls: .info, .connection: .info, .authentication: .debug])
    /// The number of methods of services that are only looked up.
    static let limit = 100
    /// The number of methods whose durations are distinguished. A histogram has eleven lines.
    static let histogramLimit = 24
    /// The number of endpoints, which take no place from services.
    static let endpointLimit = 32

    fileprivate struct Key: Hashable {
        static let others = Key(path: AppMetrics.others, method: AppMetrics.others)

        let path: String
        let method: String
    }

    fileprivate struct State {
        var calls: [Key: AppMetrics.Calls] = [:]
        var endpoints = 0
        /// The number of methods of services that are only looked up.
        var methods = 0
        var histograms = 0
        var connections = 0
        var refreshes: [String: Int] = [:]
    }

    private let state = Locked(State())
    private let isRegistered: @Sendable (String) -> Bool

    /// - Parameter isRegistered: Returns whether a service is registered at a path.
    init(isRegistered: @escaping @Sendable (String) -> Bool = { _ in false }) { self.isRegistered = isRegistered }

    func receive(_ event: DiagnosticEvent) {
        switch event.domain {
        case .calls: count(event)
        case .connection where event["recovered"] != nil: state.withLock { $0.connections += 1 }
        case .authentication where event.isRefresh:
            state.withLock { $0.refreshes[event.error?.errorType ?? "", default: 0] += 1 }
        default: break
        }
    }

    var counted: (calls: [AppMetrics.Calls], connections: Int, refreshes: [String: Int]) {
        let (calls, connections, refreshes) = state.withLock {
            (Array($0.calls.values), $0.connections, $0.refreshes)
        }
        return (calls.sorted { ($0.path, $0.method) < ($1.path, $1.method) }, connections, refreshes)
    }

    private func count(_ event: DiagnosticEvent) {
        guard case .string(let path)? = event[.path], case .string(let method)? = event[.method] else { return }
        let isEndpoint = method == ServiceMethod.endpointRequest.description
        let key = Key(path: isEndpoint ? PathTemplate.folding(path) : path, method: method)
        let isFree = isEndpoint || isRegistered(path)
        state.withLock { state in
            let key = state.place(of: key, isEndpoint: isEndpoint, isFree: isFree)
            guard case .string(let outcome)? = event[.outcome] else {
                state.calls[key]?.retries += 1
                return
            }
            let transport: String? = if case .string(let name)? = event[.transport] { name } else { nil }
            let failure = outcome == "ok" ? nil : event.error?.errorType ?? outcome
            let kind = AppMetrics.Calls.Outcome(transport: transport, errorType: failure)
            state.calls[key]?.outcomes[kind, default: 0] += 1
            guard let duration = event.duration else { return }
            let durations = state.histogram(of: key)
            state.calls[durations]?.durations.add(duration)
        }
    }
}

extension MetricsRecorder.State {
    /// Returns where the calls of a method are counted.
    fileprivate mutating func place(of key: MetricsRecorder.Key, isEndpoint: Bool, isFree: Bool) -> MetricsRecorder.Key
    {
        if calls[key] != nil { return key }
        let hasRoom: Bool
        if isEndpoint {
            hasRoom = endpoints < MetricsRecorder.endpointLimit
            endpoints += hasRoom ? 1 : 0
        } else {
            hasRoom = isFree || methods < MetricsRecorder.limit
            methods += hasRoom && !isFree ? 1 : 0
        }
        return begin(hasRoom ? key : .others)
    }

    /// Returns where the durations of a method are counted.
    fileprivate mutating func histogram(of key: MetricsRecorder.Key) -> MetricsRecorder.Key {
        if calls[key]?.durations.isEmpty == false { return key }
        guard histograms < MetricsRecorder.histogramLimit else { return begin(.others) }
        histograms += 1
        return key
    }

    private mutating func begin(_ key: MetricsRecorder.Key) -> MetricsRecorder.Key {
        if calls[key] == nil { calls[key] = AppMetrics.Calls(path: key.path, method: key.method) }
        return key
    }
}

extension DiagnosticEvent {
    /// Whether the event reports the end of a refresh of the sign-in.
    fileprivate var isRefresh: Bool { self["refreshed"] != nil }
}

extension Error {
    /// The kind of the error, as `error.type` in OpenTelemetry's conventions, of which there are few.
    fileprivate var errorType: String {
        if self is CancellationError { return "cancelled" }
        guard let error = self as? FeathersError else { return "\(type(of: self))" }
        return error.code.name ?? AppMetrics.others
    }
}

extension PathTemplate {
    /// Returns an endpoint's path with placeholders instead of ids: numbers, UUIDs and MongoDB's object ids.
    static func folding(_ path: String) -> String {
        guard path.utf8.contains(where: { (0x30...0x39).contains($0) }) else { return path }
        return path.split(separator: "/", omittingEmptySubsequences: false)
            .map { isID($0) ? ":id" : String($0) }.joined(separator: "/")
    }

    private static func isID(_ segment: Substring) -> Bool {
        let bytes = segment.utf8
        if !bytes.isEmpty, bytes.allSatisfy({ (0x30...0x39).contains($0) }) { return true }
        guard [24, 32, 36].contains(bytes.count) else { return false }
        return segment.allSatisfy { $0.isHexDigit || $0 == "-" }
    }
}

extension ServiceMethod {
    /// The method of every endpoint's call, as seen by hooks.
    package static let endpointRequest: ServiceMethod = "request"
}
