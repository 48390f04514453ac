import Synchronization

extension FeathersApp {
    /// Reports every call and every change of the connection to a sink.
    ///
    /// ```swift
    /// app.use(diagnostics: .standardError)
    /// app.use(
    ///     diagnostics: .text { print($0) }, levels: DiagnosticLevels(.warning, [.http: .debug]))
    /// ```
    ///
    /// Calls of all services are reported as described in ``Hooks/logging(levels:redaction:verbosity:to:)``, which also
    /// explains the parameters. The connection is reported during ``run()`` and ``withFeathersApp(_:_:)``. If you call
    /// ``connect()`` yourself, run ``reportConnectionChanges()`` as well. A `ReportingHTTPClient` reports HTTP
    /// exchanges.
    public func use(
        diagnostics sink: any DiagnosticSink, levels: DiagnosticLevels = DiagnosticLevels(.info),
        redaction: Redaction = Redaction(),
        verbosity: DiagnosticVerbosity = .brief
    ) {
        use(hooks: .logging(levels: levels, redaction: redaction, verbosity: verbosity, to: sink))
        if levels.allow(.trace, .events) { serviceRegistry.tracesEvents.store(true, ordering: .relaxed) }
        let isFirst = withState { state in
            defer { state.reportsConnection = true }
            return !state.reportsConnection
        }
        // One reporter for all sinks: each change goes to the sinks present at that time.
        if isFirst { use(backgroundWork: { await $0.reportConnectionChanges() }) }
    }

    /// The app's sinks, for use outside of calls. During a call, use ``Diagnostics/current``, which includes the call.
    public var diagnostics: Diagnostics { appHooks.diagnostics }

    /// Reports every change of the connection until the task is cancelled; returns immediately if the transport has no
    /// connection.
    public func reportConnectionChanges() async {
        // The initial offline status is not a change.
        var last = ConnectionStatus.offline
        for await status in connectionStatusUpdates() where status != last {
            diagnostics.report(status)
            last = status
        }
        // The task is cancelled as soon as the connection is closed permanently, but that change must be reported too.
        if let status = connectionStatus, status != last { diagnostics.report(status) }
    }

    /// Starts counting calls and connections for ``metrics``.
    public func recordMetrics() {
        let recorder: MetricsRecorder? = withState { state in
            guard state.metrics == nil else { return nil }
            let recorder = MetricsRecorder { [weakReference] in weakReference.app?.isPathTaken($0) == true }
            state.metrics = recorder
            return recorder
        }
        if let recorder { use(diagnostics: recorder, levels: MetricsRecorder.levels) }
    }

    /// The app's counters and gauges. Calls and connections are counted after ``recordMetrics()``.
    public var metrics: AppMetrics {
        let (calls, connections, refreshes) = withState { $0.metrics }?.counted ?? ([], 0, [:])
        return AppMetrics(
            calls: calls, events: eventMetrics, circuits: circuitCounts.all, callsInFlight: callGate.inFlight,
            callsWaitingForTurns: callsWaitingForTurns,
            requestsWaiting: transport?.innermost.compactMap { ($0 as? any LoadedTransport)?.waitingRequests }.max(),
            refreshes: refreshes,
            transport: realTimeTransport?.load, connections: connections, health: health)
    }

    /// The events of the registered services, and of at most 50 others, because paths may contain ids.
    private var eventMetrics: [AppMetrics.Events] {
        var loads = serviceRegistry.services.map { (path: $0.path, load: $0.events.load) }
            .filter { $0.load.subscribers + $0.load.received + $0.load.dropped > 0 }
            .sorted { $0.path < $1.path }
        let excess = loads.indices.filter { !isPathTaken(loads[$0].path) }.dropFirst(50)
        if !excess.isEmpty {
            let others = excess.reduce(into: EventLoad()) { $0.add(loads[$1].load) }
            for index in excess.reversed() { loads.remove(at: index) }
            loads.append((AppMetrics.others, others))
        }
        return loads.map { path, load in
            AppMetrics.Events(
                path: path, subscribers: load.subscribers, received: load.received, waiting: load.waiting,
                dropped: load.dropped)
        }
    }
}
