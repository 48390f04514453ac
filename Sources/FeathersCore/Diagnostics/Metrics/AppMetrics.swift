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
        .milliseconds(1), .milliseconds(5), .milliseconds(10), .milliseconds(25), .milliseconds(50), .milliseconds(100),
        .milliseconds(250),
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
        typealias Family = (name: String, type: String, help: String, samples: [String])
        func byService(_ count: KeyPath<Events, Int>) -> [String] {
            events.map { Self.sample($0[keyPath: count], ["path": $0.path]) }
        }
        let outcomes = calls.flatMap { calls in
            calls.outcomes.sorted { $0.key < $1.key }.map {
                Self.sample($1, ["path": calls.path, "method": calls.method, "outcome": $0])
            }
        }
        let families: [Family] = [
            ("up", "gauge", "Whether the app is ready to make calls.", [Self.sample(health.isReady ? 1 : 0)]),
            ("calls_total", "counter", "Calls that ended, by outcome.", outcomes),
            ("call_retries_total", "counter", "Retries of calls.", calls.map { Self.sample($0.retries, $0.labels) }),
            ("call_duration_seconds", "histogram", "Durations of calls.", calls.flatMap(\.durationSamples)),
            ("calls_in_flight", "gauge", "Calls in flight.", [Self.sample(callsInFlight)]),
            (
                "transport_calls", "gauge", "Calls in flight that the transport holds.",
                transport.map {
                    [
                        Self.sample($0.waiting, ["state": "waiting"]),
                        Self.sample($0.unanswered, ["state": "unanswered"]),
                    ]
                } ?? []
            ),
            (
                "connections_total", "counter", "Connections that were opened.",
                transport.map { _ in [Self.sample(connections)] } ?? []
            ),
            (
                "reconnections_total", "counter", "Connections that were reopened.",
                transport.map { _ in [Self.sample(reconnections)] } ?? []
            ),
            ("event_subscribers", "gauge", "Subscribers of a service's events.", byService(\.subscribers)),
            ("events_waiting", "gauge", "Events buffered for slow readers.", byService(\.waiting)),
            ("events_dropped_total", "counter", "Events dropped for slow readers.", byService(\.dropped)),
        ]
        return families.filter { !$0.samples.isEmpty }.map { family in
            let name = "feathers_\(family.name)"
            let head = "# HELP \(name) \(family.help)\n# TYPE \(name) \(family.type)\n"
            return head + family.samples.map { "\(name)\($0)\n" }.joined()
        }.joined()
    }

    /// Returns what follows the name of a metric: its labels and its value.
    fileprivate static func sample(
        _ value: some Numeric & Sendable, _ labels: KeyValuePairs<String, String> = [:], suffix: String = ""
    ) -> String {
        let list = labels.map { "\($0)=\"\($1.escaping(["\\": #"\\"#, "\"": #"\""#, "\n": #"\n"#]))\"" }.joined(
            separator: ",")
        return "\(suffix)\(list.isEmpty ? "" : "{\(list)}") \(value)"
    }
}

extension AppMetrics.Calls {
    fileprivate var labels: KeyValuePairs<String, String> { ["path": path, "method": method] }

    fileprivate var durationSamples: [String] {
        var count = 0
        let bounds = zip(DurationHistogram.bounds.map { "\($0 / .seconds(1))" } + ["+Inf"], durations.counts)
        let buckets = bounds.map { bound, inBucket in
            count += inBucket
            return AppMetrics.sample(count, ["path": path, "method": method, "le": bound], suffix: "_bucket")
        }
        let sum = AppMetrics.sample(durations.sum / .seconds(1), labels, suffix: "_sum")
        return buckets + [sum, AppMetrics.sample(durations.count, labels, suffix: "_count")]
    }
}
