import FeathersCore

/// How an outbox sends.
public struct OutboxOptions: Sendable {
    /// Whether the server executes a write once, however often it comes with the same key.
    ///
    /// Only then is a write sent again that may have been executed; otherwise ``decide`` is asked about it.
    public var isKeyed = false
    /// Where the key is put; it is sent also where ``isKeyed`` is false.
    public var keyPlaces: [IdempotencyKeyPlace] = [.header()]
    /// What differs for single services, by path.
    public var services: [String: OutboxServiceOptions] = [:]
    /// How many lanes are sent from at the same time.
    public var concurrentLanes = 4
    /// How long an attempt may take; nil for as long as the transport lets it.
    public var attemptTimeout: Duration? = .seconds(60)
    /// How long to wait between attempts. With a connection kept, its return is waited for instead.
    public var retry = OutboxRetry()
    /// What becomes of a write that was refused, or of which nobody knows whether it was executed; nil to decide later with
    /// ``Outbox/decide(_:for:)``. It is asked once for every failure, several at the same time, and again after a restart; what it says when its task is cancelled does not count.
    public var decide: @Sendable (OutboxFailure) async -> OutboxDecision? = { _ in nil }
    /// What delays are measured on; it should go on while the machine sleeps.
    public var clock: any Clock<Duration> = ContinuousClock()

    /// Options as `configure` sets them.
    public init(_ configure: (inout OutboxOptions) -> Void = { _ in }) {
        configure(&self)
    }

    /// What holds for a service.
    func service(at path: String) -> OutboxServiceOptions {
        services[path] ?? OutboxServiceOptions(isKeyed: isKeyed, keyPlaces: keyPlaces)
    }
}

/// How the writes of one service are sent.
public struct OutboxServiceOptions: Sendable, Hashable {
    /// Whether the service executes a write once, however often it comes with the same key.
    public var isKeyed: Bool
    /// Where the key is put.
    public var keyPlaces: [IdempotencyKeyPlace]

    /// What holds for a service; the parameters are the properties of the same names.
    public init(isKeyed: Bool, keyPlaces: [IdempotencyKeyPlace] = [.header()]) {
        self.isKeyed = isKeyed
        self.keyPlaces = keyPlaces
    }
}
