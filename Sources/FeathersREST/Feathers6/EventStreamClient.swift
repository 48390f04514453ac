import FeathersCore
import FeathersNetworking
import FeathersSupport

/// Keeps the event stream of a FeathersJS 6 server open, and delivers its events. There is one connection at a time,
/// and one task reads it.
final class EventStreamClient: ConnectionClient {
    struct State: Sendable {
        var run = ConnectionRun()
        /// Settled when the current attempt or stream must end.
        var current: Promise<StreamEnd>?
        /// How often ``EventStreamClient/reopen()`` was called.
        var reopenings = 0
        /// Whether a stream has ever been open, and whether anything was read before that.
        var hasJoined = false
        var hasRead = false
        var sink: EventSink?
        var setups: [ConnectionSetup] = []
    }

    /// The end of a stream, or of an attempt to open one.
    struct StreamEnd: Sendable {
        var reason: DisconnectReason
        var error: FeathersError
        /// Whether the next stream is to be opened immediately, for another user or token.
        var isReopening = false

        init(_ reason: DisconnectReason, _ message: String, error: FeathersError? = nil, isReopening: Bool = false) {
            self.reason = reason
            self.error = error ?? FeathersError(.unavailable, message, execution: .neverSent)
            self.isReopening = isReopening
        }

        static var byClient: StreamEnd { StreamEnd(.clientDisconnect, "The client closed the event stream") }
    }

    let builder: RESTRequestBuilder
    let options: Feathers6Transport.Options
    let httpClient: any HTTPClient
    let timebase: RelativeClock
    let status = CurrentValue(ConnectionStatus.offline)
    let state = Locked(State())

    init(
        _ builder: RESTRequestBuilder, options: Feathers6Transport.Options, httpClient: any HTTPClient,
        timebase: RelativeClock
    ) {
        (self.builder, self.options, self.httpClient, self.timebase) = (builder, options, httpClient, timebase)
    }

    /// Records that the app has read from services. Events between that and the first stream are missing.
    func noteRead() { state.withLock { $0.hasRead = true } }

    // MARK: - Running

    func start() -> (isFirst: Bool, opened: @Sendable () async throws -> Void) { state.withLock { $0.run.start() } }

    @concurrent
    func run(stopsAtFirstFailure: Bool) async throws {
        let end = await withTaskGroup(of: Void.self) { group in
            #if canImport(Network)
                group.addTask { await NetworkMonitor.forEach { self.retryNow() } }
            #endif
            let end = await connectRepeatedly(stopsAtFirstFailure)
            group.cancelAll()
            return end
        }
        let isOurs = end.reason == .clientDisconnect
        let run = state.withLock { state in
            state.run.life = isOurs ? .idle : .closed(end.reason)
            return state.run
        }
        status.set(isOurs ? .offline : .closed(end.reason))
        run.outcome.fail(end.error)
        run.ended.resolve(())
        if !isOurs { throw end.error }
    }

    private func connectRepeatedly(_ stopsAtFirstFailure: Bool) async -> StreamEnd {
        var backoff = Backoff(policy: options.reconnection)
        var hasBeenOpen = false
        // How often in a row the server refused the stream's token and a plugin asked for another attempt.
        var renewals = 0
        while !isStopped {
            status.set(.connecting(attempt: backoff.attempt))
            let reopenings = state.withLock { $0.reopenings }
            let (end, openedAt) = await connectOnce()
            if let openedAt {
                hasBeenOpen = true
                backoff.connected(now: openedAt)
            }
            if isStopped { break }
            if end.isReopening {
                renewOutcome()
                continue
            }
            let isFirst = !hasBeenOpen && stopsAtFirstFailure
            // Callers that are waiting for the stream get the error, even if further attempts follow.
            if !isFirst { renewOutcome(failingWith: end.error) }
            let asksPlugins =
                end.error.code == .notAuthenticated && backoff.isFinal(end.reason) && !(isFirst && renewals > 0)
            let isOverruled = asksPlugins ? await reconnects(after: end.reason) : false
            let renewed = state.withLock { $0.reopenings }
            if isStopped { break }
            if isFirst, !isOverruled { return end }
            renewals = isOverruled ? (openedAt == nil ? renewals + 1 : 1) : 0
            // A new token is tried immediately, but only once. After that, each attempt waits.
            let since = renewals > 1 ? renewed : reopenings
            switch backoff.ended(end.reason, isOverruled: isOverruled, now: timebase.now, random: .random(in: 0..<1)) {
            case .stop(let reason):
                guard end.error.isRefusalOfUser, hasSetups else { return StreamEnd(reason, "", error: end.error) }
                // The server may accept another user, so the run continues with the next sign-in.
                await rest(since: since, until: nil, as: .closed(reason))
                backoff = Backoff(policy: options.reconnection)
            case .wait(let attempt, let delay):
                await rest(
                    since: since, until: timebase.now + delay,
                    as: .waiting(attempt: attempt, delay: delay, after: end.reason))
            }
        }
        return .byClient
    }

    private var hasSetups: Bool { state.withLock { !$0.setups.isEmpty } }
    var isStopped: Bool { Task.isCancelled || state.withLock { $0.run.stop }.isSettled }

    /// Waits until the given moment, or until ``retryNow()``, ``stop()``, or ``reopen()`` is called. Does not wait if
    /// ``reopen()`` was called after the attempt began.
    private func rest(since reopenings: Int, until moment: Duration?, as waiting: ConnectionStatus) async {
        let retry = Promise<Void>()
        let isReopening = state.withLock { state in
            state.run.retry = retry
            return state.reopenings != reopenings
        }
        // The wait begins before the status changes, so that a reader that reacts to the status by retrying, or by
        // advancing the clock, ends this wait.
        status.set(waiting)
        // A stop before this point found no wait to end.
        if isStopped || isReopening { return }
        if let moment { try? await timebase.sleep(until: moment, or: retry) } else { try? await retry.value() }
        state.withLock { $0.run.retry = nil }
    }

    /// Lets later callers wait for the next attempt.
    private func renewOutcome(failingWith error: FeathersError? = nil) {
        let outcome: Promise<Void>? = state.withLock { state in
            guard error != nil || state.run.outcome.isSettled else { return nil }
            return state.run.renewOutcome()
        }
        if let error { outcome?.fail(error) }
    }

    func stop() async {
        let run = state.withLock { $0.run }
        guard run.isRunning else { return }
        // Settled before looking for a stream: a later one sees the signal, and an earlier one is found here.
        run.stop.resolve(())
        let (current, retry) = state.withLock { ($0.current, $0.run.retry) }
        current?.resolve(.byClient)
        retry?.resolve(())
        // Even if the caller is cancelled while waiting, the stream ends.
        try? await run.ended.value()
    }

    func retryNow() { state.withLock { $0.run.retry }?.resolve(()) }

    /// Replaces the stream by one with the current header fields. Events of the old one are dropped from now on.
    func reopen() {
        let (current, retry) = state.withLock { state in
            state.reopenings += 1
            return (state.current, state.run.retry)
        }
        current?.resolve(
            StreamEnd(.transportClose, "The event stream was opened again for another user or token", isReopening: true)
        )
        retry?.resolve(())
    }

    /// Returns whether a plugin wants another attempt after an otherwise final end. Stops asking plugins when the run
    /// is stopped.
    private func reconnects(after reason: DisconnectReason) async -> Bool {
        guard case .refused = reason else { return false }
        let (setups, stop) = state.withLock { ($0.setups, $0.run.stop) }
        let answer = try? await racing {
            for setup in setups where !Task.isCancelled {
                if await setup.reconnects(reason) { return true }
            }
            return false
        } against: {
            try await stop.value()
            return .success(false)
        }
        return answer ?? false
    }
}

extension FeathersError {
    /// Whether the server refused the stream because of who opened it.
    fileprivate var isRefusalOfUser: Bool {
        execution == .answered && (code == .notAuthenticated || code == .forbidden)
    }
}
