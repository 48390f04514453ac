extension FeathersApp {
    /// Reports every call, and every change of the connection, to a sink.
    ///
    /// ```swift
    /// app.addDiagnostics(.standardError)
    /// app.addDiagnostics(.text { lines.append($0) }, levels: DiagnosticLevels(.warning, [.http: .debug]))
    /// ```
    ///
    /// Calls are reported as ``Hooks/logging(levels:redaction:verbosity:to:)-(_,_,_,DiagnosticSink)`` says, those of all services. The connection is reported
    /// while the app lives, during ``run()`` and ``withFeathersApp(_:_:)``; an app that calls ``connect()`` by hand runs
    /// ``reportConnectionChanges()`` itself. HTTP exchanges are reported by a `ReportingHTTPClient`.
    /// - Parameters:
    ///   - sink: what is told.
    ///   - levels: what the sink wants to hear; the rest costs next to nothing.
    ///   - redaction: what is not told.
    ///   - verbosity: whether payloads and header fields are told too.
    public func addDiagnostics(
        _ sink: any DiagnosticSink, levels: DiagnosticLevels = DiagnosticLevels(.info), redaction: Redaction = .standard,
        verbosity: DiagnosticVerbosity = .brief
    ) {
        addHooks(.logging(levels: levels, redaction: redaction, verbosity: verbosity, to: sink))
        let isFirst = withState { state in
            defer { state.reportsConnection = true }
            return !state.reportsConnection
        }
        // One for all sinks: each change is told to those there are by then.
        if isFirst { addBackgroundWork { await $0.reportConnectionChanges() } }
    }

    /// Where the app reports to, for what happens outside of calls; within one, ``Diagnostics/current`` knows the call too.
    public var diagnostics: Diagnostics { hooks.diagnostics }

    /// Reports every change of the connection until the task is cancelled, and then what it has come to; returns at once where the
    /// transport keeps none.
    public func reportConnectionChanges() async {
        // That nobody has connected yet is no change.
        var last = ConnectionStatus.offline
        for await status in connectionStatusUpdates() where status != last {
            diagnostics.report(status)
            last = status
        }
        // Whoever runs the connection cancels this as soon as it is closed for good, which is what must be told.
        if let status = connectionStatus, status != last { diagnostics.report(status) }
    }
}

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
        let events = registry.services.map { service in
            let load = service.events.load
            return AppMetrics.Events(path: service.path, subscribers: load.subscribers, waiting: load.waiting, dropped: load.dropped)
        }
        return AppMetrics(
            calls: calls, events: events.sorted { $0.path < $1.path }, callsUnderWay: gate.inFlight, transport: realTimeTransport?.load,
            connections: connections, health: health)
    }
}
