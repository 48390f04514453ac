import FeathersCore
import FeathersSupport

/// What is done on every connection of a real-time transport.
extension Authenticator {
    var connectionSetup: ConnectionSetup {
        ConnectionSetup(
            headers: { try await self.handshakeHeaders() },
            prepare: { await self.prepare($0) },
            accompany: { await self.accompany($0) },
            reconnects: { self.reconnects(after: $0) })
    }

    /// Authenticates a connection before any call uses it.
    private func prepare(_ send: Send) async {
        state.withLock { $0.session.connectionOpened() }
        while !Task.isCancelled {
            let (step, effects, change) = nextStep { $0.preparationStep(at: $1) }
            if let effects { carryOutAtOnce(effects) }
            if case .done = step { break }
            await take(step, takesOver: true, unless: change, send)
        }
        guard !Task.isCancelled else { return connectionEnded() }
        // The server has accepted this one: the headers of the next may carry the token again.
        state.withLock { $0.leavesOutHandshakeToken = false }
    }

    /// Keeps a connection authenticated until it ends.
    private func accompany(_ send: Send) async {
        let effects = state.withLock { state in
            state.session.connectionPrepared()
            return note([], &state)
        }
        carryOutAtOnce(effects)
        defer { connectionEnded() }
        while !Task.isCancelled {
            let (step, effects, change) = nextStep { $0.accompanimentStep(at: $1) }
            if let effects { carryOutAtOnce(effects) }
            await take(step, takesOver: false, unless: change, send)
        }
    }

    private func nextStep(
        _ next: @Sendable (inout AuthenticationSession, Duration) -> (AuthenticationSession.Step, [AuthenticationSession.Action])
    ) -> (AuthenticationSession.Step, Effects?, Promise<Void>) {
        let now = timebase.now
        return state.withLock { state in
            let (step, actions) = next(&state.session, now)
            let effects = actions.isEmpty ? nil : note(actions, &state)
            return (step, effects, state.change)
        }
    }

    private func take(_ step: AuthenticationSession.Step, takesOver: Bool, unless change: Promise<Void>, _ send: Send) async {
        switch step {
        case .done: break
        case .announce(let result):
            guard await announce(result, send) else {
                // Whoever serves a connection is cancelled when it ends, which may come a moment later.
                return await wait(until: timebase.now + AuthenticationSession.retryPause, or: change)
            }
        case .withdraw(let token):
            // Whatever comes of it: who hears of it is the server, and that may have forgotten.
            _ = try? await send(ServiceRequest(path: options.path, method: .remove))
            state.withLock { $0.session.withdrawn(token) }
        case .perform(let id):
            guard let (number, isFree) = claim(id, takesOver: takesOver) else { return await wait(until: nil, or: change) }
            // What was interrupted may stand in line for this very connection; a hook that never hears of it is not waited for.
            if let isFree { await wait(until: timebase.now + AuthenticationSession.retryPause, or: isFree) }
            // Beside the calls, a refresh had better outlive the connection: what it got may be lost otherwise.
            let offer = Offer(id: id, number: number)
            let entrance: AsyncStream<Offer>.Continuation? = state.withLock { state in
                guard !takesOver, state.runner.isAvailable(in: nil) else { return nil }
                state.runner.note(offer)
                return state.runner.entrance
            }
            if let entrance { entrance.yield(offer) } else { await perform(id, number, over: send) }
        case .wait(let moment): await wait(until: moment, or: change)
        }
    }

    /// Tells the server the token of a sign-in, and keeps what it answers.
    /// - Returns: whether there is an answer; false where the connection has ended.
    private func announce(_ result: AuthenticationResult, _ send: Send) async -> Bool {
        let told = result.accessToken
        let performance = Performance(authenticator: self, id: 0, number: 0)
        do {
            let token = try await Self.$isPerforming.withValue(true) {
                try await performance.signIn(.jwt(told, strategy: options.jwtStrategy), known: result.tokens, send)
            }
            let (effects, decision) = state.withLock { state in
                let isOther = token.result.accessToken != told && state.session.signedIn?.token.result.accessToken == told
                return (note(state.session.announced(told, token), &state), isOther ? storage.decide() : nil)
            }
            if let decision { try? await storage.store(token.result.tokens, decision: decision) }
            carryOutAtOnce(effects)
        } catch {
            // The next connection is told again.
            if error.isConnectionLoss || (Task.isCancelled && !error.isAnswer) { return false }
            let now = timebase.now
            let effects = state.withLock { state in
                note(state.session.announcementFailed(told, isRejection: error.isRejection, at: now), &state, because: error)
            }
            try? await carryOut(effects)
        }
        return true
    }

    private func wait(until moment: Duration?, or change: Promise<Void>) async {
        guard let moment else {
            try? await change.value()
            return
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await self.timebase.sleep(until: moment) }
            group.addTask { try? await change.value() }
            await group.next()
            group.cancelAll()
        }
    }

    private func connectionEnded() {
        let (effects, vacant) = state.withLock { state in
            (note(state.session.connectionEnded(), &state), state.work.connectionEnded())
        }
        carryOutAtOnce(effects)
        for (id, number) in vacant { giveUp(id, number) }
    }
}
