/// What keeps all writes of an outbox from being sent: no app, no connection, no sign-in, or a server that cannot be reached.
struct OutboxGate: Sendable {
    /// Whether an app runs the outbox.
    private(set) var isStarted = false
    /// Whether there is a connection; always true for a transport without one.
    var isConnected = true { didSet { if isConnected, !oldValue { (failures, closedUntil) = (0, nil) } } }
    /// Whether the server requires a sign-in.
    private(set) var needsSignIn = false
    /// How many sign-ins there have been.
    private(set) var signIns = 0
    /// How many attempts in a row did not reach the server.
    private(set) var failures = 0
    private var closedUntil: Duration?

    mutating func start() {
        isStarted = true
        (failures, closedUntil) = (0, nil)
    }

    mutating func stop() { isStarted = false }

    /// How many writes can be in flight. A single one probes the server after an attempt that did not reach it.
    /// - Returns: Nil when none can.
    func limit(at now: Duration, atMost limit: Int) -> Int? {
        guard isStarted, isConnected, !needsSignIn, closedUntil.map({ $0 <= now }) ?? true else { return nil }
        return failures > 0 ? 1 : limit
    }

    /// The server has answered.
    mutating func reached() { (failures, closedUntil) = (0, nil) }

    /// No answer came: the next write is sent alone.
    mutating func suspect() { failures = max(failures, 1) }

    /// The server could not be reached. Attempts that were in flight together count as one.
    /// - Returns: When to try again.
    mutating func missed(at now: Duration, _ retry: OutboxRetry, random: Double) -> Duration {
        if let closedUntil, closedUntil > now { return closedUntil }
        failures += 1
        let moment = now + retry.delay(after: failures, random: random)
        closedUntil = moment
        return moment
    }

    /// The server requires a sign-in.
    /// - Parameter count: How many sign-ins there were when the attempt began. If there was one since, the write is tried again.
    mutating func refused(signIns count: Int) {
        if signIns == count { needsSignIn = true }
    }

    mutating func signedIn() {
        signIns += 1
        needsSignIn = false
    }

    /// Tries again at once.
    mutating func resume() {
        needsSignIn = false
        (failures, closedUntil) = (0, nil)
    }
}
