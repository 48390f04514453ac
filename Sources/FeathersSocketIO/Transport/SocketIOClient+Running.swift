import FeathersCore
import FeathersNetworking
import FeathersSupport

extension SocketIOClient {
    /// Takes the right to run; whoever has it must call ``run(stopsAtFirstFailure:)``.
    /// - Returns: whether nobody had it, and what the first attempt will come to, or the one under way.
    func start() -> (isFirst: Bool, outcome: Promise<Void>) {
        state.withLock { state in
            if case .running = state.life { return (false, state.outcome) }
            state.life = .running
            (state.stopSignal, state.runEnded, state.outcome) = (Promise(), Promise(), Promise())
            return (true, state.outcome)
        }
    }

    /// Connects, and connects again, until told to stop or the policy does.
    /// - Parameter stopsAtFirstFailure: whether a first attempt that fails is the last one too.
    /// - Throws: ``FeathersError`` saying why there is no connection and will be none.
    @concurrent
    func run(stopsAtFirstFailure: Bool) async throws {
        let end = await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.keepTime() }
            #if canImport(Network)
                group.addTask { await NetworkMonitor.forEach { self.retryNow() } }
            #endif
            let end = await connectRepeatedly(stopsAtFirstFailure)
            group.cancelAll()
            return end
        }
        finish(end)
        if end.reason != .clientDisconnect { throw end.error }
    }

    private func connectRepeatedly(_ stopsAtFirstFailure: Bool) async -> LinkEnd {
        var backoff = Backoff(policy: options.reconnection)
        var hasStood = false
        var isRepeated = false
        while true {
            if isStopped { return LinkEnd(.clientDisconnect) }
            status.set(.connecting(attempt: backoff.attempt))
            let end = await connectOnce {
                hasStood = true
                backoff.connected(now: timebase.now)
                state.withLock { $0.outcome }.resolve(())
            }
            if isStopped { return LinkEnd(.clientDisconnect) }
            let isFirst = !hasStood && stopsAtFirstFailure
            // Whoever waits for the connection learns why there is none; the attempts may go on all the same.
            if !isFirst { failOutcome(end.error) }
            let asksPlugins = isFirst ? !isRepeated : backoff.isFinal(end.reason)
            let isOverruled = asksPlugins ? await reconnects(after: end.reason) : false
            if isStopped { return LinkEnd(.clientDisconnect) }
            if isFirst, !isOverruled { return end }
            isRepeated = true
            switch backoff.ended(end.reason, isOverruled: isOverruled, now: timebase.now, random: .random(in: 0..<1)) {
            case .stop(let reason): return LinkEnd(reason, error: end.error)
            case .wait(let attempt, let delay):
                // The wait begins before anybody hears of it: whoever moves the clock then has moved it for this wait.
                let moment = timebase.now + delay
                status.set(.waiting(attempt: attempt, delay: delay))
                let retry = Promise<Void>()
                state.withLock { $0.retrySignal = retry }
                // Whoever stopped before saw no wait to end.
                if isStopped { return LinkEnd(.clientDisconnect) }
                await sleep(until: moment, orUntil: retry)
            }
        }
    }

    private func failOutcome(_ error: FeathersError) {
        let outcome = state.withLock { state in
            defer { state.outcome = Promise() }
            return state.outcome
        }
        outcome.fail(error)
    }

    private var isStopped: Bool { Task.isCancelled || state.withLock { $0.stopSignal }.isSettled }

    private func finish(_ end: LinkEnd) {
        let isOurs = end.reason == .clientDisconnect
        let (calls, outcome, runEnded) = state.withLock { state in
            state.life = isOurs ? .idle : .closed(end.reason)
            (state.timerMoment, state.retrySignal) = (nil, nil)
            return (state.calls.takeAll(), state.outcome, state.runEnded)
        }
        status.set(isOurs ? .offline : .closed(end.reason))
        for call in calls {
            call.waiter.resume(throwing: FeathersError.notConnected("The connection is closed: \(end.reason.explanation)"))
        }
        outcome.fail(end.error)
        runEnded.resolve(())
    }

    /// Ends the connection, or the attempt to get one, and returns when it has ended; does nothing where nothing runs.
    func stop() async {
        let (isRunning, stop, runEnded) = state.withLock { state in
            let isRunning = if case .running = state.life { true } else { false }
            return (isRunning, state.stopSignal, state.runEnded)
        }
        guard isRunning else { return }
        // First, so that what begins from here on sees it, and what began before is seen here.
        stop.resolve(())
        let (link, retry) = state.withLock { ($0.link, $0.retrySignal) }
        if let link { sayGoodbye(link) }
        retry?.resolve(())
        // Whoever is cancelled while waiting has still ended the connection.
        try? await runEnded.value()
    }

    /// Ends a wait for the next attempt.
    func retryNow() {
        state.withLock { $0.retrySignal }?.resolve(())
    }
}
