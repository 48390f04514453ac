import FeathersCore
import FeathersNetworking
import FeathersSupport

extension SocketIOClient {
    /// Keeps time for everything that has a deadline, with one sleep at a time, until the task is cancelled.
    func keepTime() async {
        while !Task.isCancelled {
            let signal = Promise<Void>()
            let moment: Duration? = state.withLock { state in
                state.timerSignal = signal
                state.timerMoment = [state.calls.nextDeadline, state.engine?.heartbeatDeadline, state.joinDeadline].compactMap(\.self).min()
                return state.timerMoment
            }
            await sleep(until: moment, orUntil: signal)
            timePassed()
        }
    }

    /// Sleeps until a moment, or less long when the promise is settled or the task cancelled.
    func sleep(until moment: Duration?, orUntil signal: Promise<Void>) async {
        guard let moment else {
            try? await signal.value()
            return
        }
        guard moment > timebase.now, !signal.isSettled else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await self.timebase.sleep(until: moment) }
            group.addTask { try? await signal.value() }
            await group.next()
            group.cancelAll()
        }
    }

    /// Gives up what is overdue.
    func timePassed() {
        let now = timebase.now
        let (expired, link, end): ([CallTable<Waiter>.Call], Link?, LinkEnd?) = state.withLock { state in
            let expired = state.calls.expired(at: now)
            for call in expired where call.unsent == nil { state.outbox.removeAll { $0.call == call.frame.call } }
            if case .close = state.engine?.timePassed(now: now) { return (expired, state.link, LinkEnd(.pingTimeout)) }
            if let deadline = state.joinDeadline, deadline <= now {
                state.joinDeadline = nil
                let reason = DisconnectReason.transportError("The server did not answer CONNECT in time")
                let error = FeathersError(.timeout, reason.explanation, execution: .neverSent)
                return (expired, state.link, LinkEnd(reason, saysGoodbye: true, error: error))
            }
            return (expired, nil, nil)
        }
        for call in expired {
            let wasSent = call.unsent == nil
            call.waiter.resume(
                throwing: FeathersError(
                    .timeout, wasSent ? "No answer came in time" : "No connection came in time",
                    execution: wasSent ? .mayHaveExecuted : .neverSent))
        }
        if let link, let end { lose(link, end) }
    }
}
