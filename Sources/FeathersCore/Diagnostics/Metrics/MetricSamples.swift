extension AppMetrics {
    /// The present value of one counter or gauge.
    public struct Sample: Sendable {
        /// Whether a value only increases.
        public enum Kind: String, Sendable, Hashable {
            /// The value is a total, which only increases.
            case counter
            /// The value may increase and decrease.
            case gauge
        }

        /// The name, such as `feathers_calls_in_flight`.
        public let name: String
        /// Whether the value only increases.
        public let kind: Kind
        /// The labels that distinguish the sample from others with its name, such as the path of a service, in a fixed
        /// order.
        public let labels: [(String, String)]
        /// The value.
        public let value: Int
        /// A sentence about samples with this name.
        public let help: String
    }

    /// The present value of every counter and gauge, for export to any metrics system.
    ///
    /// ```swift
    /// for sample in app.metrics.samples {
    ///     Meter(label: sample.name, dimensions: sample.labels).set(sample.value)
    /// }
    /// ```
    /// Names and labels are those of OpenTelemetry's semantic conventions where they have one (`rpc.method`,
    /// `rpc.service`, `error.type`). Samples with the same name follow each other. The names and labels are those of ``prometheusText``, which also
    /// contains the durations of calls as a histogram.
    public var samples: [Sample] {
        var samples: [Sample] = []
        func add(_ name: String, _ kind: Sample.Kind, _ help: String, _ values: [(Int, labels: [(String, String)])]) {
            samples += values.map { value, labels in
                Sample(name: "feathers_\(name)", kind: kind, labels: labels, value: value, help: help)
            }
        }
        func byService(_ count: KeyPath<Events, Int>) -> [(Int, labels: [(String, String)])] {
            events.map { ($0[keyPath: count], [("rpc_service", $0.path)]) }
        }
        let outcomes = calls.flatMap { calls in
            calls.outcomes.map { ($1, labels: calls.labels + $0.labels) }.sorted { $0.labels.key < $1.labels.key }
        }
        add("up", .gauge, "Whether the app is ready to make calls.", [(health.isReady ? 1 : 0, [])])
        add(
            "transport_up", .gauge, "Whether the server is reachable over a transport.",
            health.transports.map { ($0.isReachable ? 1 : 0, [("transport", $0.kind.rawValue)]) })
        add("calls_total", .counter, "Calls that ended, by transport and kind of failure.", outcomes)
        add(
            "call_retries_total", .counter, "Retries of calls.",
            calls.compactMap { $0.retries == 0 ? nil : ($0.retries, $0.labels) })
        add("calls_in_flight", .gauge, "Calls in flight.", [(callsInFlight, [])])
        let waiting = [
            ("turn", callsWaitingForTurns), ("connection", transport?.waiting), ("http_connection", requestsWaiting),
        ].compactMap { name, count in count.map { (name, $0) } }
        add(
            "calls_waiting", .gauge, "Calls in flight that wait before they are sent.",
            waiting.map { ($1, [("for", $0)]) })
        add(
            "circuits_open", .gauge, "Circuit breakers that refuse calls.",
            circuits.map { ($0.open, [("rpc_service", $0.path)]) })
        add(
            "circuit_openings_total", .counter, "How often circuit breakers have opened.",
            circuits.map { ($0.openings, [("rpc_service", $0.path)]) })
        add(
            "refreshes_total", .counter, "Refreshes of the sign-in, by kind of failure.",
            refreshes.sorted { $0.key < $1.key }.map { ($1, $0.isEmpty ? [] : [("error_type", $0)]) })
        if let transport {
            add(
                "calls_unanswered", .gauge, "Calls sent over the connection without a response yet.",
                [(transport.unanswered, [])])
            add("connections_total", .counter, "Connections that were opened.", [(connections, [])])
            add("reconnections_total", .counter, "Connections that were reopened.", [(reconnections, [])])
        }
        add("events_received_total", .counter, "Events that the server has sent.", byService(\.received))
        add("event_subscribers", .gauge, "Subscribers of a service's events.", byService(\.subscribers))
        add("events_waiting", .gauge, "Events buffered for slow readers.", byService(\.waiting))
        add("events_dropped_total", .counter, "Events dropped for slow readers.", byService(\.dropped))
        return samples
    }
}

extension AppMetrics.Calls {
    /// The labels that distinguish the samples of these calls from those of other calls.
    var labels: [(String, String)] { [("rpc_method", "\(path)/\(method)")] }
}

extension AppMetrics.Calls.Outcome {
    fileprivate var labels: [(String, String)] {
        [("transport", transport), ("error_type", errorType)].compactMap { name, value in value.map { (name, $0) } }
    }
}

extension [(String, String)] {
    /// Text that sorts labels.
    fileprivate var key: String { map { "\($0)=\($1)" }.joined(separator: ",") }
}
