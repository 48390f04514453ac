import FeathersCore
import FeathersNetworking
import FeathersSupport
import Synchronization

/// The state that a transport shares with its running connection: the calls, the session, and the current connection.
/// State machines make decisions under a single lock. Resuming continuations, sending frames, and delivering events
/// happen after it is released. Only one thread at a time passes frames to the connection, which preserves their order
/// (see `drain`).
final class SocketIOClient: ConnectionClient {
    struct Waiter: Sendable {
        /// Not checked: ``CallTable`` gives every call away exactly once. The check costs an allocation, and a look-up
        /// of metadata for every copy.
        let continuation: UnsafeContinuation<ServiceResponse, any Error>
        let request: ServiceRequest

        func resume(with result: Result<JSONValue, any Error>) {
            continuation.resume(with: result.map(ServiceResponse.init))
        }
        func resume(throwing error: any Error) { continuation.resume(throwing: error) }
    }

    enum Stage: Sendable, Hashable {
        /// The server must respond to CONNECT by this time.
        case joining(until: Duration)
        /// The namespace is joined. Session calls are sent while plugins prepare the connection.
        case preparing
        case open
        /// The user of the connection has left. Only calls that end it are sent, and then it is replaced.
        case retired
    }

    /// The current connection, and the frames being written to it.
    struct Current: Sendable {
        let connection: SocketIOConnection
        var stage: Stage
        var heartbeat: EngineSession
        /// Frames waiting for the thread that passes frames to the connection.
        var outbox: [EngineFrame] = []
        var isDraining = false
        /// Calls whose frames the connection did not accept.
        var refused: [Int] = []
    }

    struct Alarm: Sendable {
        /// The earliest deadline, or nil if there is none.
        var moment: Duration?
        /// Ends the sleep when an earlier deadline is set.
        var signal = Promise<Void>()
    }

    struct State: Sendable {
        var run = ConnectionRun()
        var current: Current?
        var session: SocketSession
        var calls: CallTable<Waiter>
        var alarm = Alarm()
        var hasConnected = false
        /// When the connection of the current attempt was open for all calls, or nil if it has not been.
        var openedAt: Duration?
        /// How the last attempt to connect failed or the last connection ended, or nil while a connection is open.
        var lastFailure: Disconnection?
        var sink: EventSink?
        var setups: [ConnectionSetup] = []

        var maxPayload: Int { current?.heartbeat.handshake.maxPayload ?? .max }
        func isCurrent(_ connection: SocketIOConnection) -> Bool { current?.connection === connection }

        /// Returns the connection over which a call can be sent now, or nil if it must wait.
        func connection(for call: OutgoingCall) -> SocketIOConnection? {
            guard let connection = current?.connection, session.isJoined else { return nil }
            let isReady =
                switch current?.stage {
                case .retired: call.endsConnection
                case .open: true
                default: call.lane == .session
                }
            return call.connection.map { $0 === connection } ?? isReady ? connection : nil
        }
    }

    let options: SocketIOTransport.Options
    let opener: Result<EngineOpener, FeathersError>
    let timebase: RelativeClock
    let status = CurrentValue(ConnectionStatus.offline)
    let observers = EventHub<SocketIOEvent>()
    let state: Locked<State>
    /// Whether ``State/run`` is running, so that a call learns it without the lock.
    let isRunning = Atomic(false)
    let nextID = Atomic<Int>(0)

    init(opener: Result<EngineOpener, FeathersError>, options: SocketIOTransport.Options, timebase: RelativeClock) {
        self.opener = opener
        self.options = options
        self.timebase = timebase
        let limit = if case .wait(let limit) = options.offlineCalls { limit } else { 0 }
        let session = SocketSession(namespace: options.namespace, recovers: options.recoversState)
        let byteLimit = max(TextLimit.standard, options.maximumMessageSize)
        state = Locked(State(session: session, calls: CallTable(queueLimit: limit, byteLimit: byteLimit)))
    }

    var load: TransportLoad {
        state.withLock { TransportLoad(waiting: $0.calls.queued, unanswered: $0.calls.count - $0.calls.queued) }
    }

    func report(_ kind: SocketIODiagnostic.Kind, _ description: @autoclosure () -> String) {
        options.onDiagnostic?(SocketIODiagnostic(kind: kind, description: description()))
    }

    // MARK: - Running

    func start() -> (isFirst: Bool, opened: @Sendable () async throws -> Void) {
        state.withLock { state in
            isRunning.store(true, ordering: .releasing)
            return state.run.start()
        }
    }

    /// The task that runs this also enforces the deadlines (``keepTime(until:while:)``).
    @concurrent
    func run(stopsAtFirstFailure: Bool) async throws {
        #if canImport(Network)
            let end = await withTaskGroup(of: Void.self) { group in
                group.addTask { await NetworkMonitor.forEach { self.retryNow() } }
                defer { group.cancelAll() }
                return await connectRepeatedly(stopsAtFirstFailure)
            }
        #else
            let end = await connectRepeatedly(stopsAtFirstFailure)
        #endif
        finish(end)
        if end.reason != .clientDisconnect { throw end.error }
    }

    /// The attempts of a run. A class, because this task's memory would otherwise hold several copies while a
    /// connection is open.
    private final class Attempts {
        var backoff: Backoff
        let stopsAtFirstFailure: Bool
        var hasBeenOpen = false
        var isRepeated = false
        /// Whether the last attempt was the first, and its failure ends the run.
        var isLast: Bool { !hasBeenOpen && stopsAtFirstFailure }

        init(_ policy: ReconnectionPolicy, stopsAtFirstFailure: Bool) {
            backoff = Backoff(policy: policy)
            self.stopsAtFirstFailure = stopsAtFirstFailure
        }
    }

    private enum Step {
        case stop(Disconnection)
        case wait(until: Duration, or: Promise<Void>)
    }

    private func connectRepeatedly(_ stopsAtFirstFailure: Bool) async -> Disconnection {
        let attempts = Attempts(options.reconnection, stopsAtFirstFailure: stopsAtFirstFailure)
        while !isStopped {
            begin(attempts)
            let end = await connectOnce()
            if isStopped { break }
            // The next user does not wait, unless the connection was replaced before it was open. That could happen
            // again and again.
            if end.isReplaced, noteOpening(attempts) { continue }
            var isOverruled = end.isReplaced
            if !isOverruled, asksPlugins(after: end, attempts) { isOverruled = await reconnects(after: end) }
            if isStopped { break }
            switch step(after: end, isOverruled: isOverruled, attempts) {
            case .stop(let end): return end
            case .wait(let moment, let retry):
                // A stop before this point found no wait to end.
                if isStopped { return Disconnection(.clientDisconnect) }
                await keepTime(until: moment) { !retry.isSettled }
            }
        }
        return Disconnection(.clientDisconnect)
    }

    // Not inlined. Otherwise, the local values of these methods would be part of the task's memory for as long as the
    // connection is open: 3 KB.

    @inline(never)
    private func begin(_ attempts: Attempts) {
        state.withLock { $0.openedAt = nil }
        let connecting = ConnectionStatus.connecting(attempt: attempts.backoff.attempt)
        if status.current != connecting { status.set(connecting) }
    }

    /// - Returns: Whether the connection was open for all calls.
    @discardableResult
    private func noteOpening(_ attempts: Attempts) -> Bool {
        guard let opened = state.withLock({ $0.openedAt }) else { return false }
        attempts.hasBeenOpen = true
        attempts.backoff.connected(now: opened)
        return true
    }

    @inline(never)
    private func asksPlugins(after end: Disconnection, _ attempts: Attempts) -> Bool {
        noteOpening(attempts)
        // Callers that are waiting for the connection get the error, even if further attempts follow.
        if !attempts.isLast { failOutcome(end.error) }
        return attempts.isLast ? !attempts.isRepeated : attempts.backoff.isFinal(end.reason)
    }

    @inline(never)
    private func step(after end: Disconnection, isOverruled: Bool, _ attempts: Attempts) -> Step {
        if attempts.isLast, !isOverruled { return .stop(end) }
        attempts.isRepeated = true
        state.withLock { $0.lastFailure = end }
        switch attempts.backoff.ended(
            end.reason, isOverruled: isOverruled, now: timebase.now, random: .random(in: 0..<1))
        {
        case .stop(let reason): return .stop(Disconnection(reason, error: end.error))
        case .wait(let attempt, let delay):
            // The wait begins before the status changes, so that a reader that reacts to the status by retrying, or by
            // advancing the clock, ends this wait.
            let (moment, retry) = (timebase.now + delay, Promise<Void>())
            state.withLock { $0.run.retry = retry }
            status.set(.waiting(attempt: attempt, delay: delay, after: end.reason))
            return .wait(until: moment, or: retry)
        }
    }

    private func failOutcome(_ error: FeathersError) {
        let outcome = state.withLock { $0.run.renewOutcome() }
        outcome.fail(error)
    }

    var isStopped: Bool { Task.isCancelled || state.withLock { $0.run.stop }.isSettled }

    @inline(never)
    private func finish(_ end: Disconnection) {
        let isOurs = end.reason == .clientDisconnect
        let (calls, run) = state.withLock { state in
            state.run.life = isOurs ? .idle : .closed(end.reason)
            isRunning.store(false, ordering: .releasing)
            (state.alarm.moment, state.run.retry, state.lastFailure) = (nil, nil, nil)
            return (state.calls.takeAll(), state.run)
        }
        status.set(isOurs ? .offline : .closed(end.reason))
        for call in calls {
            call.waiter.resume(
                throwing: FeathersError.notConnected(
                    "The connection is closed: \(end.reason.refusalText)", cause: end.error))
        }
        run.outcome.fail(end.error)
        run.ended.resolve(())
    }

    func stop() async {
        let run = state.withLock { $0.run }
        guard run.isRunning else { return }
        // Settled before looking for a connection: a later connection sees the signal, and an earlier one is found
        // here.
        run.stop.resolve(())
        let (connection, retry) = state.withLock { ($0.current?.connection, $0.run.retry) }
        if let connection { lose(connection, Disconnection(.clientDisconnect, saysGoodbye: true)) }
        retry?.resolve(())
        wakeTimer()
        // Even if the caller is cancelled while waiting, the connection ends.
        try? await run.ended.value()
    }

    func retryNow() {
        state.withLock { $0.run.retry }?.resolve(())
        wakeTimer()
    }

    // MARK: - Time

    /// Enforces all deadlines, with one sleep at a time, until a moment, while a condition holds and the task is not
    /// cancelled. Whatever ends the condition then calls ``wakeTimer()``.
    func keepTime(until limit: Duration? = nil, while isPending: () -> Bool) async {
        while !Task.isCancelled {
            let alarm = setAlarm(until: limit)
            // Checked after the signal can be found, so that no end is missed.
            guard isPending(), limit.map({ $0 > timebase.now }) ?? true else { return }
            await sleep(until: alarm.moment, orUntil: alarm.signal)
            timePassed()
        }
    }

    @inline(never)
    private func setAlarm(until limit: Duration?) -> Alarm {
        state.withLock { state in
            var deadlines = [limit, state.calls.nextDeadline, state.current?.heartbeat.heartbeatDeadline]
            if case .joining(let deadline) = state.current?.stage { deadlines.append(deadline) }
            state.alarm = Alarm(moment: deadlines.compactMap(\.self).min(), signal: Promise())
            return state.alarm
        }
    }

    func wakeTimer() { state.withLock { $0.alarm.signal }.resolve(()) }

    /// Sleeps until a deadline passes, the promise is settled, or the task is cancelled.
    private func sleep(until moment: Duration?, orUntil signal: Promise<Void>) async {
        guard let moment else {
            try? await signal.value()
            return
        }
        guard moment > timebase.now, !signal.isSettled else { return }
        await timebase.settle(signal, at: moment)
    }

    /// Ends overdue calls, and the connection if it is overdue.
    @inline(never)
    func timePassed() {
        let now = timebase.now
        var failure: FeathersError?
        let (expired, connection, end): ([CallTable<Waiter>.Call], SocketIOConnection?, Disconnection?) = state.withLock
        { state in
            failure = state.lastFailure?.error
            let expired = state.calls.expired(at: now)
            for call in expired where call.unsent == nil {
                state.current?.outbox.removeAll { $0.call == call.frame.call }
            }
            if case .close = state.current?.heartbeat.timePassed(now: now) {
                return (expired, state.current?.connection, Disconnection(.pingTimeout))
            }
            if case .joining(let deadline) = state.current?.stage, deadline <= now {
                let reason = DisconnectReason.transportError("The server did not respond to CONNECT in time")
                let error = FeathersError(.timeout, reason.refusalText, execution: .neverSent)
                // Skips the disconnect packet: a caller of `connect` would wait for an unresponsive server.
                return (expired, state.current?.connection, Disconnection(reason, error: error))
            }
            return (expired, nil, nil)
        }
        for call in expired {
            let isSent = call.unsent == nil
            call.waiter.resume(
                throwing: isSent
                    ? FeathersError.unanswered(call.waiter.request) : FeathersError.unconnected(after: failure))
        }
        if let connection, let end { lose(connection, end) }
    }
}
