extension FeathersApp {
    /// Counts calls and connections from now on, for ``metrics``.
    public func recordMetrics() {
        let recorder: MetricsRecorder? = withState { state in
            guard state.metrics == nil else { return nil }
            let recorder = MetricsRecorder()
            state.metrics = recorder
            return recorder
        }
        if let recorder { addDiagnostics(recorder, levels: MetricsRecorder.levels) }
    }

    /// What the app has done so far, and what waits in it. Calls and connections are counted from ``recordMetrics()`` on.
    public var metrics: AppMetrics {
        let (calls, connections) = withState { $0.metrics }?.counted ?? ([], 0)
        let events = registry.registrations.map { registration in
            let load = registration.events.load
            return AppMetrics.Events(path: registration.path, subscribers: load.subscribers, waiting: load.waiting, dropped: load.dropped)
        }
        return AppMetrics(
            calls: calls, events: events.sorted { $0.path < $1.path }, callsUnderWay: gate.underWay, transport: realTimeTransport?.load,
            connections: connections, health: health)
    }
}
