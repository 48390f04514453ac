/// Counters and gauges of an app.
///
/// ```swift
/// app.recordMetrics()
/// let text = app.metrics.prometheusText
/// ```
public struct AppMetrics: Sendable, Hashable {
    /// The calls of one method of one service.
    public struct Calls: Sendable, Hashable {
        /// The service's path.
        public let path: String
        /// The method's name.
        public let method: String
        /// The number of calls by outcome: `ok`, `failed`, `cancelled`.
        public internal(set) var outcomes: [String: Int] = [:]
        /// The number of retries.
        public internal(set) var retries = 0
        /// The durations of calls, as callers see them.
        public internal(set) var durations = DurationHistogram()
    }

    /// The events of one service and its subscribers.
    public struct Events: Sendable, Hashable {
        /// The service's path.
        public let path: String
        /// The number of subscribers.
        public let subscribers: Int
        /// The number of events buffered for slow readers.
        public let waiting: Int
        /// The number of events dropped for slow readers.
        public let dropped: Int
    }

    /// The calls that have ended since ``FeathersApp/recordMetrics()``, by path and method.
    public let calls: [Calls]
    /// The events of services whose events were requested, by path.
    public let events: [Events]
    /// The number of calls in flight.
    public let callsInFlight: Int
    /// The calls in flight in the transport; nil if the app has no connection.
    public let transport: TransportLoad?
    /// The number of connections opened since ``FeathersApp/recordMetrics()``.
    public let connections: Int
    /// The health of the app.
    let health: AppHealth

    /// The number of connections opened after the first.
    public var reconnections: Int { max(connections - 1, 0) }
}

/// A histogram of durations.
public struct DurationHistogram: Sendable, Hashable {
    /// The upper bounds of the buckets. Longer durations are counted in an additional bucket.
    public static let bounds: [Duration] = [
        .milliseconds(1), .milliseconds(5), .milliseconds(10), .milliseconds(25), .milliseconds(50), .milliseconds(100), .milliseconds(250),
        .milliseconds(500), .seconds(1), .seconds(2.5), .seconds(5), .seconds(10), .seconds(30),
    ]

    /// The number of durations in each bucket, not cumulative. There is one more bucket than there are bounds.
    public private(set) var counts = Array(repeating: 0, count: bounds.count + 1)
    /// The sum of all durations.
    public private(set) var sum = Duration.zero

    package init() {}

    /// The number of durations.
    package var count: Int { counts.reduce(0, +) }

    package mutating func add(_ duration: Duration) {
        counts[Self.bounds.firstIndex { duration <= $0 } ?? Self.bounds.count] += 1
        sum += duration
    }
}

extension AppMetrics {
    /// The metrics in Prometheus' text format, version 0.0.4 (`text/plain; version=0.0.4`).
    public var prometheusText: String {
        var text = PrometheusText()
        text.family("feathers_up", "gauge", "Whether the app is ready to make calls.") {
            $0.add(health.isReady ? "1" : "0")
        }
        addCalls(to: &text)
        text.family("feathers_calls_in_flight", "gauge", "Calls in flight.") { $0.add("\(callsInFlight)") }
        if let transport {
            text.family("feathers_transport_calls", "gauge", "Calls in flight that the transport holds.") {
                $0.add("\(transport.waiting)", ["state": "waiting"])
                $0.add("\(transport.unanswered)", ["state": "unanswered"])
            }
            text.family("feathers_connections_total", "counter", "Connections that were opened.") { $0.add("\(connections)") }
            text.family("feathers_reconnections_total", "counter", "Connections that were reopened.") {
                $0.add("\(reconnections)")
            }
        }
        func addEvents(_ name: String, _ type: String, _ help: String, _ count: (Events) -> Int) {
            text.family(name, type, help) { text in
                for events in events { text.add("\(count(events))", ["path": events.path]) }
            }
        }
        addEvents("feathers_event_subscribers", "gauge", "Subscribers of a service's events.", \.subscribers)
        addEvents("feathers_events_waiting", "gauge", "Events buffered for slow readers.", \.waiting)
        addEvents("feathers_events_dropped_total", "counter", "Events dropped for slow readers.", \.dropped)
        return text.text
    }

    private func addCalls(to text: inout PrometheusText) {
        text.family("feathers_calls_total", "counter", "Calls that ended, by outcome.") { text in
            for calls in calls {
                for (outcome, count) in calls.outcomes.sorted(by: { $0.key < $1.key }) {
                    text.add("\(count)", ["path": calls.path, "method": calls.method, "outcome": outcome])
                }
            }
        }
        text.family("feathers_call_retries_total", "counter", "Retries of calls.") { text in
            for calls in calls { text.add("\(calls.retries)", ["path": calls.path, "method": calls.method]) }
        }
        text.family("feathers_call_duration_seconds", "histogram", "Durations of calls.") { text in
            for calls in calls {
                let labels: KeyValuePairs = ["path": calls.path, "method": calls.method]
                var count = 0
                for (bound, inBucket) in zip(DurationHistogram.bounds, calls.durations.counts) {
                    count += inBucket
                    text.add("\(count)", ["path": calls.path, "method": calls.method, "le": "\(bound / .seconds(1))"], suffix: "_bucket")
                }
                text.add("\(calls.durations.count)", ["path": calls.path, "method": calls.method, "le": "+Inf"], suffix: "_bucket")
                text.add("\(calls.durations.sum / .seconds(1))", labels, suffix: "_sum")
                text.add("\(calls.durations.count)", labels, suffix: "_count")
            }
        }
    }
}

private struct PrometheusText {
    private(set) var text = ""
    private var name = ""

    /// Writes a metric's header and its samples, or nothing if it has no samples.
    mutating func family(_ name: String, _ type: String, _ help: String, _ samples: (inout PrometheusText) -> Void) {
        self.name = name
        let before = text
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
        let head = text
        samples(&self)
        if text == head { text = before }
    }

    mutating func add(_ value: String, _ labels: KeyValuePairs<String, String> = [:], suffix: String = "") {
        let list = labels.map { label, value in
            let value = value.escaping(["\\": #"\\"#, "\"": #"\""#, "\n": #"\n"#])
            return "\(label)=\"\(value)\""
        }.joined(separator: ",")
        text += "\(name)\(suffix)\(list.isEmpty ? "" : "{\(list)}") \(value)\n"
    }
}
