/// Counters and gauges of an app.
///
/// ```swift
/// app.recordMetrics()
/// let text = app.metrics.prometheusText
/// ```
public struct AppMetrics: Sendable, Hashable {
    /// The calls of one method of one service.
    public struct Calls: Sendable, Hashable {
        /// How calls ended.
        public struct Outcome: Sendable, Hashable {
            /// The transport that sent them: `rest`, `socketio` or `jsonapi`; nil for calls that were not sent.
            public let transport: String?
            /// The kind of their failure; nil for calls that succeeded.
            ///
            /// It is the name of an error that FeathersJS defines, such as `NotFound`, `cancelled`, the type of an
            /// error that is not a ``FeathersError``, or `_OTHER` for the codes that a server has made up.
            public let errorType: String?
        }

        /// The service's path, or the template of an endpoint's path.
        public let path: String
        /// The method's name.
        public let method: String
        /// The number of calls by outcome.
        public internal(set) var outcomes: [Outcome: Int] = [:]
        /// The number of retries.
        public internal(set) var retries = 0
        /// The durations of calls, as callers see them. Beyond the first 24 methods, durations are those of ``path``
        /// `_OTHER`.
        public internal(set) var durations = DurationHistogram()

        /// The number of calls that have ended.
        public var count: Int { outcomes.values.reduce(0, +) }
    }

    /// The events of one service and its subscribers.
    public struct Events: Sendable, Hashable {
        /// The service's path.
        public let path: String
        /// The number of subscribers.
        public let subscribers: Int
        /// The number of events that the server has sent.
        public let received: Int
        /// The number of events buffered for slow readers.
        public let waiting: Int
        /// The number of events dropped for slow readers.
        public let dropped: Int
    }

    /// The calls that have ended since ``FeathersApp/recordMetrics()``, by path and method.
    public let calls: [Calls]
    /// The events of services that have received any or have subscribers, by path.
    public let events: [Events]
    /// The services whose circuit breakers have opened, by path.
    public let circuits: [Circuits]
    /// The number of calls in flight.
    public let callsInFlight: Int
    /// The number of calls that wait for a turn of `Hooks.limiting`.
    public let callsWaitingForTurns: Int
    /// The number of requests that wait for an HTTP connection, with those of other apps that share the connections;
    /// nil if the app makes none.
    public let requestsWaiting: Int?
    /// The number of times that the sign-in was refreshed, by the kind of failure; the empty string for successes.
    public let refreshes: [String: Int]
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
        .milliseconds(5), .milliseconds(25), .milliseconds(100), .milliseconds(250), .milliseconds(500), .seconds(1),
        .seconds(2.5), .seconds(10),
    ]

    /// The number of durations in each bucket, not cumulative. There is one more bucket than there are bounds.
    public private(set) var counts = Array(repeating: 0, count: bounds.count + 1)
    /// The sum of all durations.
    public private(set) var sum = Duration.zero

    package init() {}

    var isEmpty: Bool { counts.allSatisfy { $0 == 0 } }

    /// The number of durations.
    public var count: Int { counts.reduce(0, +) }

    /// Adds a duration.
    package mutating func add(_ duration: Duration) {
        counts[Self.bounds.firstIndex { duration <= $0 } ?? Self.bounds.count] += 1
        sum += duration
    }
}
