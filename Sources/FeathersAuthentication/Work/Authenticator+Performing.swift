import FeathersCore
import FeathersSupport

/// Doing shared work.
extension Authenticator {
    /// What a performance came to.
    enum Performed: Sendable {
        /// - isAnnounced: whether it came as the answer to a sign-in, so that the server knows the connection by it.
        case token(IssuedToken, isAnnounced: Bool)
        case nothingStored
        case failed(any Error)
        /// Somebody else has taken the work over.
        case interrupted
    }

    /// Does shared work through the app's services, until it is done or somebody takes it over.
    func perform(_ id: Int, _ number: Int, in app: FeathersApp) async {
        let interruption = Interruption()
        let isOurs = state.withLock { state in
            guard state.work.isPerformed(id, by: number) else { return false }
            state.interruptions[number] = interruption
            return true
        }
        guard isOurs else { return }
        let performed = await withTaskGroup(of: Performed.self) { group in
            group.addTask { await self.produce(id, number, through: app) }
            group.addTask {
                do { try await interruption.request.value() } catch { return .failed(error) }
                return .interrupted
            }
            defer { group.cancelAll() }
            while let first = await group.next() {
                // Cancelled, the interruption comes to nothing first; the work itself may still have an answer.
                if case .failed(is CancellationError) = first, !group.isEmpty { continue }
                return first
            }
            return .interrupted
        }
        _ = state.withLock { $0.interruptions.removeValue(forKey: number) }
        interruption.end.resolve(())
        await finish(id, number, performed)
    }

    /// What goes beside the connection is not taken out of the performer's hands when one opens: it may have been executed, and
    /// exchanged a refresh token.
    private func produce(_ id: Int, _ number: Int, through app: FeathersApp) async -> Performed {
        let call = ConnectionCall { self.setInterruptible(id, number, false) }
        let performed = await produce(id, number) { request in
            var request = request
            request.params[ConnectionCall.self] = call
            // Also while the app shuts down: calls under way wait for it.
            return try await app.onBehalfOfCalls { [request] in try await app.service(request.path).respond(to: request) }
        }
        guard call.wentBeside, case .token(let token, _) = performed else { return performed }
        return .token(token, isAnnounced: false)
    }

    /// Does shared work over a connection.
    func perform(_ id: Int, _ number: Int, over send: Send) async {
        let performed = await produce(id, number, send)
        if case .failed(let error) = performed, error.isConnectionLoss {
            // Whoever waits can still have what they wait for, over the next connection.
            return giveUp(id, number)
        }
        await finish(id, number, performed)
    }

    /// Claims shared work for a connection.
    /// - Returns: the performance's number, and when whoever was interrupted sends nothing any more; nil where somebody is about it who
    ///   should not be disturbed.
    func claim(_ id: Int, takesOver: Bool) -> (number: Int, isFree: Promise<Void>?)? {
        let (number, interruption): (Int?, Interruption?) = state.withLock { state in
            guard let claimed = state.work.claim(id, takesOver: takesOver) else { return (nil, nil) }
            return (claimed.number, claimed.interrupted.flatMap { state.interruptions[$0] })
        }
        interruption?.request.resolve(())
        return number.map { ($0, interruption?.end) }
    }

    private func produce(_ id: Int, _ number: Int, _ send: Send) async -> Performed {
        let (phase, credentials) = state.withLock { ($0.session.phase, $0.credentials[id]) }
        let performance = Performance(authenticator: self, id: id, number: number)
        do {
            return try await Self.$isPerforming.withValue(true) {
                switch phase {
                case .authenticating(let attempt) where attempt.id == id && attempt.kind == .restore:
                    return try await performance.restore(send)
                case .signedIn(let signedIn) where signedIn.renewal?.id == id && credentials == nil:
                    return try await performance.refresh(signedIn.token.result, send)
                default:
                    guard let credentials else { return .interrupted }
                    return .token(try await performance.signIn(credentials, send), isAnnounced: true)
                }
            }
        } catch {
            return .failed(error)
        }
    }

    private func finish(_ id: Int, _ number: Int, _ performed: Performed) async {
        switch performed {
        case .interrupted: break
        case .token(let token, let isAnnounced): await succeed(id, number, token, isAnnounced: isAnnounced)
        case .nothingStored:
            let error = FeathersError(.notAuthenticated, "No accessToken found in storage", execution: .neverSent)
            await conclude(id, number, because: error) { $0.foundNothingStored(id) }
        case .failed(let error) where Task.isCancelled && !error.isAnswer:
            giveUp(id, number)
        case .failed(let error):
            let now = timebase.now
            await conclude(id, number, because: error) { session in
                session.signInFailed(id, isRejection: error.isRejection)
                    + session.refreshFailed(id, isRejection: error.isRejection, at: now)
            }
        }
    }

    /// Stores the tokens first: whoever learns of the sign-in can rely on them.
    private func succeed(_ id: Int, _ number: Int, _ token: IssuedToken, isAnnounced: Bool) async {
        let (decision, isSignIn): (Int?, Bool) = state.withLock { state in
            guard state.session.isCurrent(id) else { return (nil, false) }
            return (storage.decide(), state.session.signedIn == nil)
        }
        if let decision {
            do {
                try await storage.store(token.result.tokens, decision: decision)
            } catch  where isSignIn {
                return await conclude(id, number, because: error) { $0.signInFailed(id, isRejection: false) }
            } catch {
                // The present token may be worth nothing any more: the new one serves at least as long as this process lives.
            }
        }
        let effects = state.withLock { state in
            let isRefresh = state.session.signedIn?.renewal?.id == id
            let actions =
                isRefresh
                ? state.session.refreshSucceeded(id, token, isAnnounced: isAnnounced)
                : state.session.signInSucceeded(id, token, isAnnounced: isAnnounced)
            if state.session.signedIn?.renewal?.id == id { state.work.bindToConnection(id) }
            return note(actions, &state)
        }
        try? await carryOut(effects)
    }

    /// Ends work that failed, unless another performer is about it.
    private func conclude(
        _ id: Int, _ number: Int, because error: any Error,
        _ event: @Sendable (inout AuthenticationSession) -> [AuthenticationSession.Action]
    ) async {
        let effects: Effects? = state.withLock { state in
            guard state.work.isPerformed(id, by: number) else { return nil }
            return note(event(&state.session), &state, because: error)
        }
        // The failure of the sign-in is the one to tell.
        if let effects { try? await carryOut(effects) }
    }
}

extension Error {
    /// Whether the server has said no: FeathersJS' client takes the codes between 400 and 408 for that.
    var isRejection: Bool {
        guard let error = self as? FeathersError, error.execution == .answered else { return false }
        return (401...407).contains(error.code.rawValue)
    }

    /// Whether a request failed because its connection ended.
    var isConnectionLoss: Bool { (self as? FeathersError)?.code == .unavailable && !isAnswer }

    /// Whether this is the server's answer, rather than the lack of one.
    var isAnswer: Bool { (self as? FeathersError)?.execution == .answered }
}
