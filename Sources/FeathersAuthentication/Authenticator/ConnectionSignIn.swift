import FeathersCore
import FeathersSupport

/// The authenticator's work on every connection of a real-time transport.
extension Authenticator {
    private typealias Send = ConnectionSetup.Send

    var connectionSetup: ConnectionSetup {
        ConnectionSetup(
            headers: { [weak self] in try await self?.handshakeHeaders() ?? [:] },
            prepare: { [weak self] in await self?.prepare($0) },
            accompany: { [weak self] in await self?.accompany($0) },
            reconnects: { [weak self] in self?.reconnects(after: $0) ?? false })
    }

    /// Signs in a connection before any call uses it: waits for an attempt in progress, or begins one for a stored token, and announces the result.
    private func prepare(_ send: @escaping Send) async {
        state.withLock { state in
            state.session.connectionOpened()
            if let token = state.sentHandshakeToken { state.session.handshakeAccepted(token) }
        }
        while !Task.isCancelled {
            let next = nextStep { $0.preparationStep(at: $1) }
            if case .done = next.step { break }
            await take(next, send)
        }
        guard !Task.isCancelled else { return connectionEnded() }
        state.withLock { state in
            // The server has accepted this connection, so the next handshake may include the token again.
            state.leavesOutHandshakeToken = false
            // From now on, calls may be sent at any moment: a log-out that comes before that must be told first.
            state.session.connectionPrepared()
        }
    }

    /// Keeps a connection signed in until it ends.
    private func accompany(_ send: @escaping Send) async {
        carryOutAtOnce(state.withLock { note([], &$0) })
        defer { connectionEnded() }
        // Recovery replays missed events, except those pushed before the server recognized the user again: these went to no one.
        if let app = app(), app.identity != nil, case .connected(recovered: true)? = app.connectionStatus { app.pushedEventsMissed() }
        while !Task.isCancelled { await take(nextStep { $0.accompanimentStep(at: $1) }, send) }
    }

    private func connectionEnded() { carryOutAtOnce(state.withLock { state in note(state.session.connectionEnded(), &state) }) }

    private struct NextStep: Sendable {
        var step: AuthenticationSession.Step
        /// Whom the step is for. A request that is not sent before this user leaves must not be sent at all, because it would follow the log-out or the
        /// next user's sign-in.
        var sender: RequestSender?
        /// Set after joining the attempt to wait for.
        var ended: Promise<AttemptEnd>?
        var change: Promise<Void>
    }

    private func nextStep(
        _ next: @Sendable (inout AuthenticationSession, Duration) -> (AuthenticationSession.Step, [AuthenticationSession.Action])
    ) -> NextStep {
        let now = timebase.now
        let (nextStep, effects) = state.withLock { state in
            let (step, actions) = next(&state.session, now)
            let effects = actions.isEmpty ? nil : note(actions, &state)
            var nextStep = NextStep(step: step, sender: app()?.currentSender, change: state.change)
            if case .wait(let id) = step { nextStep.ended = join(id, &state) }
            if case .announce(let result) = step { state.session.announcing = result.accessToken }
            return (nextStep, effects)
        }
        if let effects { carryOutAtOnce(effects) }
        return nextStep
    }

    private func take(_ next: NextStep, _ send: @escaping Send) async {
        switch next.step {
        case .done: break
        case .wait(let id): if let ended = next.ended { _ = try? await wait(for: id, ended) }
        case .announce(let result):
            guard await announce(result, as: next.sender, send) else {
                // The connection has ended. This task will be cancelled shortly.
                return await rest(until: timebase.now + AuthenticationSession.retryPause, or: state.withLock { $0.change })
            }
        case .withdraw(let token):
            do {
                var request = ServiceRequest(path: options.path, method: .remove)
                request.sender = next.sender
                try request.checkSender()
                _ = try await send(request)
            } catch  where error.isRejection && replaceable == nil {
                // The server has no sign-in to end, or does not allow ending it.
            } catch {
                // The next user's sign-in has taken the connection over, or is about to.
                if next.sender?.isCurrent == false { return }
                // The server may still take the connection for the user's, so nothing may be sent over it as anyone else.
                if !error.isConnectionLoss, !Task.isCancelled { replaceable?.replaceConnection() }
                return await rest(until: timebase.now + AuthenticationSession.retryPause, or: next.change)
            }
            let effects = state.withLock { state in
                state.session.withdrawn(token)
                return note([], &state)
            }
            carryOutAtOnce(effects)
        case .rest(let moment): await rest(until: moment, or: next.change)
        }
    }

    /// Announces the token of a sign-in to the server, and stores the response.
    /// - Returns: Whether a response arrived; false if the connection has ended.
    private func announce(_ result: AuthenticationResult, as sender: RequestSender?, _ send: @escaping Send) async -> Bool {
        let told = result.accessToken
        let connection = connectionNumber
        do {
            let requests = SignInRequests(
                options: options, storage: storage, timebase: timebase, decide: { nil },
                send: { request in
                    var request = request
                    request.sender = sender
                    try request.checkSender()
                    return (value: try await send(request).result, connection: connection)
                })
            let token = try await requests.signIn(with: result.tokens)
            let (effects, decision) = state.withLock { state in
                state.session.announcing = nil
                let isOther = token.result.accessToken != told && state.session.signedIn?.token.result.accessToken == told
                return (note(state.session.announced(told, token), &state), isOther ? storage.decide() : nil)
            }
            if let decision { try? await storage.store(token.result.tokens, decision: decision, isSignIn: false) }
            carryOutAtOnce(effects)
        } catch {
            // The token is announced again over the next connection.
            let isLost = error.isConnectionLoss || (Task.isCancelled && !error.isAnswer)
            let (now, replaceable) = (timebase.now, replaceable)
            let (effects, isReplaced) = state.withLock { state in
                state.session.announcing = nil
                // The server may still accept the announcement of a user who has left.
                let hasLeft = state.session.signedIn?.token.result.accessToken != told
                let isReplaced = replaceable != nil && hasLeft && error.leavesConnectionUnknown
                if isReplaced {
                    state.session.connectionOwnerLost()
                } else if error.leavesConnectionUnknown {
                    state.session.connection.isUnsettled = true
                }
                let actions = isLost ? [] : state.session.announcementFailed(told, isRejection: error.isRejection, at: now)
                return (note(actions, &state, because: error), isReplaced)
            }
            if isReplaced { replaceable?.replaceConnection() }
            try? await carryOut(effects)
            if isLost { return false }
        }
        return true
    }

    private func rest(until moment: Duration?, or change: Promise<Void>) async {
        if let moment { try? await timebase.sleep(until: moment, or: change) } else { try? await change.value() }
    }
}

// MARK: - Opening and reconnecting

extension Authenticator {
    /// Returns the header fields for the handshake: the token, if the options require it.
    private func handshakeHeaders() async throws -> [String: String] {
        let (phase, leavesOut) = state.withLock { state in
            state.session.connectionOpening()
            return (state.session.phase, state.leavesOutHandshakeToken)
        }
        guard options.authenticatesHandshake else { return [:] }
        let token: String? =
            switch phase {
            case .signedIn(let signedIn): signedIn.token.result.accessToken
            case .signedOut(.none), .expired: nil
            case .signedOut(.untried), .authenticating: try await storage.read()?.accessToken
            }
        // A token that is not valid in a header is announced over the connection instead, so that the server can judge it.
        let sent = token.flatMap { !leavesOut && (try? AccessToken.check($0, .badRequest)) != nil ? $0 : nil }
        state.withLock { $0.sentHandshakeToken = sent }
        return sent.map { [options.header: tokenForm.value(of: $0)] } ?? [:]
    }

    /// Returns whether to reconnect after an end that the transport treats as final.
    private func reconnects(after reason: DisconnectReason) -> Bool {
        let now = timebase.now
        switch reason {
        case .serverDisconnect:
            return state.withLock { state in
                let token = state.session.signedIn?.token
                let lead = token?.expiry.map { expiry in (token?.refreshMoment).map { expiry - $0 } ?? .zero } ?? .zero
                return state.session.isExpiry(at: now, lead: max(lead, Self.clockTolerance))
            }
        case .refused:
            // The token may be the only reason. The next attempt omits it, and the server judges it over the connection.
            return state.withLock { state in
                state.leavesOutHandshakeToken = state.sentHandshakeToken != nil
                return state.leavesOutHandshakeToken
            }
        default: return false
        }
    }

    /// How far the server's clock may be ahead when it ends a connection because of its token.
    private static let clockTolerance = Duration.seconds(2)
}
