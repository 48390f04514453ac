/// What an app has done so far, in numbers.
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
        /// How many ended in which way: `ok`, `failed`, `cancelled`.
        public internal(set) var outcomes: [String: Int] = [:]
        /// How often calls were tried again.
        public internal(set) var retries = 0
        /// How long they took, as their callers saw it.
        public internal(set) var durations = DurationHistogram()
    }

    /// The events of one service, and those who listen.
    public struct Events: Sendable, Hashable {
        /// The service's path.
        public let path: String
        /// How many sequences of events there are.
        public let subscribers: Int
        /// How many events wait for slow readers.
        public let waiting: Int
        /// How many events slow readers have lost.
        public let dropped: Int
    }

    /// Calls that ended since ``FeathersApp/recordMetrics()``, by path and method.
    public let calls: [Calls]
    /// Events of services that anybody has asked for, by path.
    public let events: [Events]
    /// How many calls are under way.
    public let callsUnderWay: Int
    /// What the transport holds of them; nil where the app keeps no connection.
    public let transport: TransportLoad?
    /// How often a connection stood since ``FeathersApp/recordMetrics()``.
    public let connections: Int
    /// How the app is.
    public let health: AppHealth

    /// How often a connection stood again after another.
    public var reconnections: Int { max(connections - 1, 0) }
}
