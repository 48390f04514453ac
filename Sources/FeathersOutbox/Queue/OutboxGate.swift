/// What stands between an outbox and its server, for all writes alike.
struct OutboxGate: Sendable {
    /// Whether anybody sends.
    private(set) var isStarted = false
    /// Whether the connection stands; always where the transport keeps none.
    var isConnected = true {
        didSet { if isConnected, !oldValue { (failures, closedUntil) = (0, nil) } }
    }
    /// Whether the server wants somebody signed in.
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

    /// How many writes may be on their way: one that tries the server, where the last did not reach it.
    /// - Returns: nil where none may.
    func limit(at now: Duration, atMost limit: Int) -> Int? {
        guard isStarted, isConnected, !needsSignIn, closedUntil.map({ $0 <= now }) ?? true else { return nil }
        return failures > 0 ? 1 : limit
    }

    /// The server has answered.
    mutating func reached() {
        (failures, closedUntil) = (0, nil)
    }

    /// No answer came: the next write goes alone.
    mutating func suspect() { failures = max(failures, 1) }

    /// The server could not be reached. Attempts that were under way together count as one.
    /// - Returns: when to try again.
    mutating func missed(at now: Duration, _ retry: OutboxRetry, random: Double) -> Duration {
        if let closedUntil, closedUntil > now { return closedUntil }
        failures += 1
        let moment = now + retry.delay(after: failures, random: random)
        closedUntil = moment
        return moment
    }

    /// The server wants somebody signed in.
    /// - Parameter count: how many sign-ins there were when the attempt began; one since then is worth another attempt.
    mutating func refused(signIns count: Int) {
        if signIns == count { needsSignIn = true }
    }

    mutating func signedIn() {
        signIns += 1
        needsSignIn = false
    }

    /// Tries again at once, whatever stood in the way.
    mutating func resume() {
        needsSignIn = false
        (failures, closedUntil) = (0, nil)
    }
}
