import FeathersCore
import FeathersSupport

/// Taking part in shared work: waiting for it, and doing it where nobody else does.
extension Authenticator {
    /// Waits for the end of shared work that the task has entered.
    /// - Throws: `CancellationError` when the task is cancelled; the work goes on for the others.
    func takePart(in id: Int, _ app: FeathersApp) async throws -> WorkOutcome {
        defer { leave(id) }
        while true {
            switch try await turn(in: id, life: app.currentLife) {
            case .perform(let number):
                await perform(id, number, in: app)
                try Task.checkCancellation()
            case .over(let outcome): return outcome
            case .unknown: return WorkOutcome(outcome: .superseded)
            case .wait: continue
            }
        }
    }

    private func turn(in id: Int, life: Int?) async throws -> WorkTurn<WorkOutcome> {
        let waiterID = state.withLock { state in
            state.nextWaiterID += 1
            return state.nextWaiterID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                takeTurn(id, waiterID, waiter, life)
                // A cancellation before the registration found nobody to wake.
                if Task.isCancelled { cancelWait(id, waiterID) }
            }
        } onCancel: {
            cancelWait(id, waiterID)
        }
    }

    private func takeTurn(_ id: Int, _ waiterID: Int, _ waiter: Waiter, _ life: Int?) {
        let (turn, entrance) = state.withLock { state in
            let turn = state.work.takeTurn(id, waiterID, waiter, hasRunner: state.runner.isAvailable(in: life))
            if case .wait(let offer?) = turn { state.runner.note(Offer(id: id, number: offer)) }
            return (turn, state.runner.entrance)
        }
        switch turn {
        case .perform(let number): waiter.resume(returning: .perform(number))
        case .over(let outcome): waiter.resume(returning: .over(outcome))
        case .unknown: waiter.resume(returning: .unknown)
        case .wait(let offer):
            if let offer { entrance?.yield(Offer(id: id, number: offer)) }
        }
    }

    private func cancelWait(_ id: Int, _ waiterID: Int) {
        state.withLock { $0.work.removeWaiter(id, waiterID) }?.resume(throwing: CancellationError())
    }

    private func leave(_ id: Int) {
        let effects: Effects? = state.withLock { state in
            guard state.work.leave(id) else { return nil }
            return note(state.session.workAbandoned(id), &state, because: CancellationError())
        }
        if let effects { carryOutAtOnce(effects) }
    }

    /// Sees to it that somebody else does the work a performer gives up.
    func giveUp(_ id: Int, _ number: Int) {
        var offer: Offer?
        var successor: (waiter: Waiter, number: Int)?
        let (effects, entrance): (Effects?, AsyncStream<Offer>.Continuation?) = state.withLock { state in
            switch state.work.giveUp(id, number, hasRunner: state.runner.isAvailable(in: nil)) {
            case .nobody: return (nil, nil)
            case .runner(let next):
                let next = Offer(id: id, number: next)
                state.runner.note(next)
                offer = next
            case .waiter(let waiter, let next): successor = (waiter, next)
            case .abandoned: return (note(state.session.workAbandoned(id), &state, because: CancellationError()), nil)
            }
            return (nil, state.runner.entrance)
        }
        if let effects { carryOutAtOnce(effects) }
        if let successor { successor.waiter.resume(returning: .perform(successor.number)) }
        if let offer { entrance?.yield(offer) }
    }
}
