extension FeathersApp {
    /// Reports every call, and every change of the connection, to a sink.
    ///
    /// ```swift
    /// app.use(diagnostics: .standardError)
    /// app.use(diagnostics: .text { lines.append($0) }, levels: DiagnosticLevels(.warning, [.http: .debug]))
    /// ```
    ///
    /// Calls of all services are reported as by ``Hooks/logging(levels:redaction:verbosity:to:)``, which explains the parameters. The
    /// connection is reported during ``run()`` and ``withFeathersApp(_:_:)``; an app that calls ``connect()`` by hand runs
    /// ``reportConnectionChanges()`` itself. HTTP exchanges are reported by a `ReportingHTTPClient`.
    public func use(
        diagnostics sink: any DiagnosticSink, levels: DiagnosticLevels = DiagnosticLevels(.info), redaction: Redaction = Redaction(),
        verbosity: DiagnosticVerbosity = .brief
    ) {
        use(hooks: .logging(levels: levels, redaction: redaction, verbosity: verbosity, to: sink))
        let isFirst = withState { state in
            defer { state.reportsConnection = true }
            return !state.reportsConnection
        }
        // One for all sinks: each change is reported to those present by then.
        if isFirst { use(backgroundWork: { await $0.reportConnectionChanges() }) }
    }

    /// The app's sinks, for what happens outside of calls; within one, ``Diagnostics/current`` knows the call too.
    public var diagnostics: Diagnostics { hooks.diagnostics }

    /// Reports every change of the connection until the task is cancelled; returns at once if the transport keeps none.
    public func reportConnectionChanges() async {
        // Not connected yet is not a change.
        var last = ConnectionStatus.offline
        for await status in connectionStatusUpdates() where status != last {
            diagnostics.report(status)
            last = status
        }
        // The task is cancelled as soon as the connection is closed for good, and that must be reported.
        if let status = connectionStatus, status != last { diagnostics.report(status) }
    }

    /// Counts calls and connections from now on, for ``metrics``.
    public func recordMetrics() {
        let recorder: MetricsRecorder? = withState { state in
            guard state.metrics == nil else { return nil }
            let recorder = MetricsRecorder()
            state.metrics = recorder
            return recorder
        }
        if let recorder { use(diagnostics: recorder, levels: MetricsRecorder.levels) }
    }

    /// The app's counters and gauges. Calls and connections are counted from ``recordMetrics()`` on.
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
