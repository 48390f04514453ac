import FeathersCore

/// The state of a stub transport's connection: whether it is wanted, whether the server is available, and which calls
/// wait for it.
struct StubLine: Sendable {
    enum Server: Sendable {
        /// Accepts connections; `recovered` is true if the next one replays missed events.
        case accepting(recovered: Bool)
        case away
        /// Refuses this many attempts; all attempts if it is nil.
        case refusing(FeathersError, attempts: Int?)
    }

    enum Life: Sendable {
        case idle
        case running(isStopping: Bool)
        case closed(DisconnectReason)
    }

    struct WaitingCall: Sendable {
        let id: Int
        let request: ServiceRequest
        /// Whether the call signs in or logs out. It does not wait for plugins to prepare the connection, because they
        /// may wait for it.
        let isSession: Bool
    }

    /// A call that has arrived at the server, and the connection that delivered it.
    struct Arrival: Sendable {
        let taken: StubRegistry<ServiceRequest, JSONValue>.Taken
        let link: Int
    }

    /// All statuses so far; the last one is current.
    var statuses: [ConnectionStatus] = [.offline]
    var life = Life.idle
    var server = Server.accepting(recovered: false)
    /// The connection that the server has accepted.
    var link: Int?
    /// Whether calls that sign in or log out may be sent over it.
    var isAccepted = false
    /// Whether calls may be sent over it.
    var isStanding = false
    /// Whether only calls that end it may be sent over it, because its user has left.
    var isRetired = false
    /// Whether the next connection takes the place of one whose user has left, so that nothing is recovered.
    var isReplaced = false
    /// The number of connections accepted, of connections opened for calls, and of attempts or connections that have
    /// ended.
    var (linkCount, standingCount, endCount) = (0, 0, 0)
    /// The end of the last connection or attempt.
    var end = StubLineEnd(.clientDisconnect)
    /// The calls that wait for a connection, in order.
    var queue: [WaitingCall] = []
    var callCount = 0
    /// The calls that no longer wait.
    var arrivals: [Int: Arrival] = [:]
    /// How often all calls in flight have been ended.
    var endings = 0
    /// The calls that are not sent because their user logged out while they waited.
    var stale: Set<Int> = []
    /// The events since the connection was lost, for a recovered connection.
    var missed: [ServiceEvent] = []
    var sink: EventSink?
    var setups: [ConnectionSetup] = []
    var openings: [[String: String]] = []

    var isRunning: Bool { if case .running = life { true } else { false } }
    var isStopping: Bool { if case .running(let isStopping) = life { isStopping } else { true } }
    var isAccepting: Bool { if case .accepting = server { true } else { false } }
}

/// The reason why a connection, or an attempt to connect, ended.
struct StubLineEnd: Sendable {
    let reason: DisconnectReason
    let error: FeathersError

    init(_ reason: DisconnectReason, _ error: FeathersError? = nil) {
        self.reason = reason
        self.error = error ?? FeathersError(.unavailable, "There is no connection: \(reason)", execution: .neverSent)
    }

    /// Whether no further attempt follows, unless a plugin requests one.
    var isFinal: Bool {
        switch reason {
        case .refused: true
        case .serverDisconnect, .clientDisconnect, .attemptsExhausted, .pingTimeout, .transportClose, .transportError,
            .parseError:
            false
        }
    }
}

extension StubLine {
    /// The result of an attempt to connect.
    enum Opening: Sendable {
        case failed(StubLineEnd)
        case accepted(link: Int, recovered: Bool)
    }

    mutating func open(headers: [String: String]) -> Opening {
        openings.append(headers)
        switch server {
        case .away: return .failed(StubLineEnd(.transportError("The server is unavailable")))
        case .refusing(let error, let attempts):
            if let attempts {
                server = attempts > 1 ? .refusing(error, attempts: attempts - 1) : .accepting(recovered: false)
            }
            return .failed(StubLineEnd(.refused(error.message), error))
        case .accepting(let recovered):
            server = .accepting(recovered: false)
            linkCount += 1
            return .accepted(link: linkCount, recovered: recovered && linkCount > 1 && !isReplaced)
        }
    }

    /// Ends a connection if it is the current one.
    mutating func lose(_ link: Int?, _ reason: DisconnectReason) {
        guard let link, self.link == link else { return }
        (self.link, isAccepted, isStanding, isRetired, end) = (nil, false, false, false, StubLineEnd(reason))
    }

    /// Retires the connection: from now on, it carries only calls that end it.
    /// - Returns: Whether there is a connection.
    mutating func retire() -> Bool {
        missed = []
        guard link != nil else {
            isReplaced = linkCount > 0
            return false
        }
        if isStanding, !isRetired { statuses.append(.connecting(attempt: 1)) }
        isRetired = true
        return true
    }

    /// Ends a retired connection, so that the next one opens.
    mutating func replace() {
        guard isRetired else { return }
        isReplaced = true
        lose(link, .clientDisconnect)
    }

    /// The possible outcomes for a new call.
    enum Admission: Sendable {
        case goes(link: Int)
        case waits
        case fails(DisconnectReason)
    }

    /// - Returns: An id by which the next call can be found in the queue.
    mutating func nextCallID() -> Int {
        callCount += 1
        return callCount
    }

    mutating func admit(_ request: ServiceRequest, _ id: Int) -> Admission {
        let isSession = request.params.concernsConnection
        let isReady = isRetired ? isAccepted && request.params.endsConnection : isStanding || (isSession && isAccepted)
        if let link, isReady { return .goes(link: link) }
        if case .closed(let reason) = life { return .fails(reason) }
        if request.params.isVolatile { return .fails(end.reason) }
        queue.append(WaitingCall(id: id, request: request, isSession: isSession))
        return .waits
    }

    /// Removes the waiting calls of a user who has logged out.
    mutating func failUnsent(where isStale: (ServiceRequest) -> Bool) {
        for call in queue where isStale(call.request) { stale.insert(call.id) }
        queue.removeAll { stale.contains($0.id) }
    }

    /// Releases a waiting call.
    /// - Returns: Whether it was still waiting.
    mutating func release(_ id: Int, _ arrival: Arrival) -> Bool {
        guard let index = queue.firstIndex(where: { $0.id == id }) else { return false }
        queue.remove(at: index)
        arrivals[id] = arrival
        return true
    }

    /// Returns the sink for an event, or stores the event for a recovered connection to replay.
    mutating func receiver(of event: ServiceEvent) -> EventSink? {
        if link != nil { return sink }
        if isReplaced { return nil }
        if isRunning, linkCount > 0 { missed.append(event) }
        return nil
    }
}
