/// The conditions that hold back all writes of an outbox: no app, no connection, no sign-in, or an unreachable server.
struct OutboxGate: Sendable {
    /// Whether an app runs the outbox.
    private(set) var isStarted = false
    /// Whether there is a connection; always true for a transport without connections.
    var isConnected = true { didSet { if isConnected, !oldValue { (failures, closedUntil) = (0, nil) } } }
    /// Whether the server requires a sign-in.
    private(set) var needsSignIn = false
    /// The number of sign-ins and log-outs so far.
    private(set) var signIns = 0
    /// The number of consecutive attempts that did not reach the server.
    private(set) var failures = 0
    /// When the server is tried again; nil if it can be reached.
    private(set) var closedUntil: Duration?

    mutating func start() {
        isStarted = true
        (failures, closedUntil) = (0, nil)
    }

    mutating func stop() { isStarted = false }

    /// Returns how many writes may be in flight. After an attempt that did not reach the server, a single write probes
    /// it.
    /// - Returns: Nil if no write may be sent.
    func limit(at now: Duration, atMost limit: Int) -> Int? {
        guard isStarted, isConnected, !needsSignIn, closedUntil.map({ $0 <= now }) ?? true else { return nil }
        return failures > 0 ? 1 : limit
    }

    /// Records that the server has responded.
    mutating func reached() { (failures, closedUntil) = (0, nil) }

    /// Records that no response arrived: the next write is sent alone.
    mutating func suspect() { failures = max(failures, 1) }

    /// Records that the server could not be reached. Attempts that were in flight together count as one.
    mutating func missed(at now: Duration, _ retry: OutboxRetry, random: Double) {
        if let closedUntil, closedUntil > now { return }
        failures += 1
        closedUntil = now + retry.delay(after: failures, random: random)
    }

    /// Records that the server requires a sign-in.
    /// - Parameter count: The number of sign-ins and log-outs when the attempt began. If it has increased, the write is
    ///   sent again.
    mutating func refused(signIns count: Int) {
        if signIns == count { needsSignIn = true }
    }

    /// Records a sign-in or a log-out. What the server has refused to one user says nothing about the next, or about
    /// signed-out writes.
    mutating func userChanged() {
        signIns += 1
        needsSignIn = false
    }

    /// Allows the next attempt immediately.
    mutating func resume() {
        needsSignIn = false
        (failures, closedUntil) = (0, nil)
    }
}

/// The names of the lanes from which a write can be sent, in the order they became ready.
struct ReadyLanes: Sendable {
    private var lanes: [String] = []
    private var members: Set<String> = []
    /// The number of lanes at the beginning that have already been taken.
    private var taken = 0

    mutating func append(_ lane: String) {
        if members.insert(lane).inserted { lanes.append(lane) }
    }

    /// Removes a lane from the line. Its old position is skipped later.
    mutating func remove(_ lane: String) { members.remove(lane) }

    mutating func popFirst() -> String? {
        while taken < lanes.count {
            let lane = lanes[taken]
            taken += 1
            if taken > 64, taken * 2 > lanes.count {
                lanes.removeFirst(taken)
                taken = 0
            }
            if members.remove(lane) != nil { return lane }
        }
        lanes = []
        taken = 0
        return nil
    }
}
