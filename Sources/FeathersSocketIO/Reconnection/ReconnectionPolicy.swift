/// When a lost connection is made again, and how often it is tried.
public struct ReconnectionPolicy: Sendable, Hashable {
    /// What the first delay is at most.
    public var initialDelay: Duration
    /// What any delay is at most.
    public var maximumDelay: Duration
    /// How much longer each delay is than the one before.
    public var multiplier: Double
    /// Which part of a delay is left to chance, from 0 to 1: at 0.5 a delay of 4 s becomes one between 2 s and 4 s.
    ///
    /// It applies at the maximum too, so that thousands of clients of one failed server do not come back in the same moment.
    public var jitter: Double
    /// How many attempts in a row may fail; nil for any number.
    public var maximumAttempts: Int?
    /// How long a connection must have stood before delays start over: a flapping server is not asked every second for ever.
    public var stablePeriod: Duration
    /// Whether to try again after the server refused the connection (`connect_error`).
    public var retriesAfterRefusal: Bool
    /// Whether to try again after the server ended the connection (`io server disconnect`), as FeathersJS does when a token expires.
    public var retriesAfterServerDisconnect: Bool

    /// A policy; the parameters are the properties of the same names.
    public init(
        initialDelay: Duration = .seconds(1), maximumDelay: Duration = .seconds(5), multiplier: Double = 2, jitter: Double = 0.5,
        maximumAttempts: Int? = nil, stablePeriod: Duration = .seconds(10), retriesAfterRefusal: Bool = false,
        retriesAfterServerDisconnect: Bool = false
    ) {
        self.initialDelay = initialDelay
        self.maximumDelay = maximumDelay
        self.multiplier = multiplier
        self.jitter = jitter
        self.maximumAttempts = maximumAttempts
        self.stablePeriod = stablePeriod
        self.retriesAfterRefusal = retriesAfterRefusal
        self.retriesAfterServerDisconnect = retriesAfterServerDisconnect
    }

    /// Never connects again by itself.
    public static let never = ReconnectionPolicy(maximumAttempts: 0)
}
