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
        let help: String
    }

    /// The present value of every counter and gauge, for export to any metrics system.
    ///
    /// ```swift
    /// for sample in app.metrics.samples {
    ///     Meter(label: sample.name, dimensions: sample.labels).set(sample.value)
    /// }
    /// ```
    /// Samples with the same name follow each other. The names and labels are those of ``prometheusText``, which also
    /// contains the durations of calls as a histogram.
    public var samples: [Sample] {
        var samples: [Sample] = []
        func add(_ name: String, _ kind: Sample.Kind, _ help: String, _ values: [(Int, labels: [(String, String)])]) {
            samples += values.map { value, labels in
                Sample(name: "feathers_\(name)", kind: kind, labels: labels, value: value, help: help)
            }
        }
        func byService(_ count: KeyPath<Events, Int>) -> [(Int, labels: [(String, String)])] {
            events.map { ($0[keyPath: count], [("path", $0.path)]) }
        }
        let outcomes = calls.flatMap { calls in
            calls.outcomes.sorted { $0.key < $1.key }.map { ($1, labels: calls.labels + [("outcome", $0)]) }
        }
        add("up", .gauge, "Whether the app is ready to make calls.", [(health.isReady ? 1 : 0, [])])
        add("calls_total", .counter, "Calls that ended, by outcome.", outcomes)
        add("call_retries_total", .counter, "Retries of calls.", calls.map { ($0.retries, $0.labels) })
        add("calls_in_flight", .gauge, "Calls in flight.", [(callsInFlight, [])])
        add(
            "circuits_open", .gauge, "Circuit breakers that refuse calls.",
            circuits.map { ($0.open, [("path", $0.path)]) })
        add(
            "circuit_openings_total", .counter, "How often circuit breakers have opened.",
            circuits.map { ($0.openings, [("path", $0.path)]) })
        if let transport {
            add(
                "transport_calls", .gauge, "Calls in flight that the transport holds.",
                [(transport.waiting, [("state", "waiting")]), (transport.unanswered, [("state", "unanswered")])])
            add("connections_total", .counter, "Connections that were opened.", [(connections, [])])
            add("reconnections_total", .counter, "Connections that were reopened.", [(reconnections, [])])
        }
        add("event_subscribers", .gauge, "Subscribers of a service's events.", byService(\.subscribers))
        add("events_waiting", .gauge, "Events buffered for slow readers.", byService(\.waiting))
        add("events_dropped_total", .counter, "Events dropped for slow readers.", byService(\.dropped))
        return samples
    }
}

extension AppMetrics.Calls {
    /// The labels that distinguish the samples of these calls from those of other calls.
    var labels: [(String, String)] { [("path", path), ("method", method)] }
}
