import FeathersCore

/// The connection of a stub transport as a value: whether it is wanted, whether the server is there, who waits for it.
struct StubLine: Sendable {
    enum Server: Sendable {
        /// Takes connections; `recovered` where the next one replays what was missed.
        case accepting(recovered: Bool)
        case away
        /// Refuses so many attempts, all of them where it is nil.
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
        /// Whether it signs the connection in or out. Such a call does not wait for plugins to prepare the connection, because they may wait for it.
        let isSession: Bool
    }

    /// A call that has arrived at the server, and the connection it came by.
    struct Arrival: Sendable {
        let taken: StubRegistry<ServiceRequest, JSONValue>.Taken
        let link: Int
    }

    /// Every status there was; the last is the present one.
    var statuses: [ConnectionStatus] = [.offline]
    var life = Life.idle
    var server = Server.accepting(recovered: false)
    /// The connection the server has accepted.
    var link: Int?
    /// Whether calls that sign in or out may be sent over it.
    var isAccepted = false
    /// Whether calls may be sent over it.
    var isStanding = false
    /// How many connections were accepted, how many stood, how many attempts or connections have ended.
    var (linkCount, standingCount, endCount) = (0, 0, 0)
    /// Why the last one ended.
    var end = StubLineEnd(.clientDisconnect)
    /// Calls that wait for a connection, in order.
    var queue: [WaitingCall] = []
    var callCount = 0
    /// Calls that no longer wait.
    var arrivals: [Int: Arrival] = [:]
    /// How often the calls in flight were ended.
    var endings = 0
    /// Calls that are not sent, since their user signed out while they waited.
    var stale: Set<Int> = []
    /// Events since the connection was lost, for one that is recovered.
    var missed: [ServiceEvent] = []
    var sink: EventSink?
    var setups: [ConnectionSetup] = []
    var openings: [[String: String]] = []

    var isRunning: Bool { if case .running = life { true } else { false } }
    var isStopping: Bool { if case .running(let isStopping) = life { isStopping } else { true } }
    var isAccepting: Bool { if case .accepting = server { true } else { false } }
}

/// How an attempt to connect, or a connection, ended.
struct StubLineEnd: Sendable {
    let reason: DisconnectReason
    let error: FeathersError

    init(_ reason: DisconnectReason, _ error: FeathersError? = nil) {
        self.reason = reason
        self.error = error ?? FeathersError(.unavailable, "There is no connection: \(reason)", execution: .neverSent)
    }

    /// Whether no other attempt follows unless a plugin asks for one.
    var isFinal: Bool {
        switch reason {
        case .serverDisconnect, .refused: true
        case .clientDisconnect, .attemptsExhausted, .pingTimeout, .transportClose, .transportError, .parseError: false
        }
    }
}

extension StubLine {
    /// What comes of an attempt to connect.
    enum Opening: Sendable {
        case failed(StubLineEnd)
        case accepted(link: Int, recovered: Bool)
    }

    mutating func open(headers: [String: String]) -> Opening {
        openings.append(headers)
        switch server {
        case .away: return .failed(StubLineEnd(.transportError("The server is away")))
        case .refusing(let error, let attempts):
            if let attempts { server = attempts > 1 ? .refusing(error, attempts: attempts - 1) : .accepting(recovered: false) }
            return .failed(StubLineEnd(.refused(error.message), error))
        case .accepting(let recovered):
            server = .accepting(recovered: false)
            linkCount += 1
            return .accepted(link: linkCount, recovered: recovered && linkCount > 1)
        }
    }

    /// Ends a connection, if it is the present one.
    mutating func lose(_ link: Int?, _ reason: DisconnectReason) {
        guard let link, self.link == link else { return }
        (self.link, isAccepted, isStanding, end) = (nil, false, false, StubLineEnd(reason))
    }

    /// What a call made now may do.
    enum Admission: Sendable {
        case goes(link: Int)
        case waits(id: Int)
        case fails(DisconnectReason)
    }

    mutating func admit(_ request: ServiceRequest) -> Admission {
        let isSession = request.params.concernsConnection
        if let link, isStanding || (isSession && isAccepted) { return .goes(link: link) }
        if case .closed(let reason) = life { return .fails(reason) }
        if request.params.isVolatile { return .fails(end.reason) }
        callCount += 1
        queue.append(WaitingCall(id: callCount, request: request, isSession: isSession))
        return .waits(id: callCount)
    }

    /// Takes out what waits in the name of a user who has signed out.
    mutating func failUnsent(where isStale: (ServiceRequest) -> Bool) {
        for call in queue where isStale(call.request) { stale.insert(call.id) }
        queue.removeAll { stale.contains($0.id) }
    }

    /// Lets a waiting call go.
    /// - Returns: whether it was still waiting.
    mutating func release(_ id: Int, _ arrival: Arrival) -> Bool {
        guard let index = queue.firstIndex(where: { $0.id == id }) else { return false }
        queue.remove(at: index)
        arrivals[id] = arrival
        return true
    }

    /// Where an event goes now: to the app, or into what a recovered connection replays.
    mutating func receiver(of event: ServiceEvent) -> EventSink? {
        if link != nil { return sink }
        if isRunning, linkCount > 0 { missed.append(event) }
        return nil
    }
}
