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

    /// Signs in a connection before any call uses it: waits for an attempt in progress, or begins one for a stored
    /// token, and announces the result.
    private func prepare(_ send: @escaping Send) async {
        let mustEnd = state.withLock { state in
            state.session.connectionOpened()
            return retireConnection(&state)
        }
        // The user whose token was in the handshake has left meanwhile.
        if mustEnd { connections?.replaceConnection() }
        while !Task.isCancelled, await meet({ $0.needBeforeCalls(at: $1) }, send) {}
        guard !Task.isCancelled else { return connectionEnded() }
        state.withLock { state in
            // The server has accepted this connection, so the next handshake may include the token again.
            state.leavesOutHandshakeToken = false
            state.session.connectionPrepared()
        }
    }

    /// Keeps a connection signed in until it ends.
    private func accompany(_ send: @escaping Send) async {
        carryOutAtOnce(state.withLock { note([], &$0) })
        defer { connectionEnded() }
        // Recovery replays missed events. Events that were pushed before the server recognized the user again reached
        // no one, and are not replayed.
        if let app = app(), app.identity != nil, case .connected(recovered: true)? = app.connectionStatus {
            app.pushedEventsMissed()
        }
        while !Task.isCancelled { _ = await meet({ $0.needDuringCalls(at: $1) }, send) }
    }

    private func connectionEnded() {
        carryOutAtOnce(state.withLock { state in note(state.session.connectionEnded(), &state) })
    }

    /// Does what a connection needs next.
    /// - Returns: Whether it needed anything.
    private func meet(
        _ next:
            @Sendable (inout AuthenticationSession, Duration) -> (
                need: AuthenticationSession.Need, actions: [AuthenticationSession.Action]
            ), _ send: @escaping Send
    ) async -> Bool {
        let now = timebase.now
        let (need, ended, sender, change, effects) = state.withLock { state in
            let (need, actions) = next(&state.session, now)
            let effects = actions.isEmpty ? nil : note(actions, &state)
            let ended: Promise<End>? = if case .attempt(let id) = need { join(id, &state) } else { nil }
            return (need, ended, app()?.currentSender, state.change, effects)
        }
        if let effects { carryOutAtOnce(effects) }
        switch need {
        case .nothing: return false
        case .attempt(let id): if let ended { _ = try? await wait(for: id, ended) }
        case .announcement(let result):
            // If the user leaves before the request is sent, it must not be sent at all.
            guard await announce(result, as: sender, send) else {
                // The connection has ended. This task will be cancelled shortly.
                await rest(until: timebase.now + AuthenticationSession.retryPause, or: state.withLock { $0.change })
                return true
            }
        case .rest(let moment): await rest(until: moment, or: change)
        }
        return true
    }

    /// Announces the token of a sign-in to the server, and stores the response.
    /// - Returns: Whether a response arrived; false if the connection has ended.
    private func announce(_ result: AuthenticationResult, as sender: RequestSender?, _ send: @escaping Send) async
        -> Bool
    {
        let told = result.accessToken
        let connection = connectionNumber
        do {
            let requests = SignInRequests(
                options: options, storage: storage, timebase: timebase, decide: { nil }, keep: {},
                send: { request in
                    var request = request
                    request.sender = sender
                    try request.checkSender()
                    let response = try await self.signingIn { [request] in try await send(request) }
                    return (value: response.result, connection: connection)
                })
            let token = try await requests.signIn(with: result.tokens)
            let (effects, decision) = state.withLock { state in
                let isOther =
                    token.result.accessToken != told && state.session.signedIn?.token.result.accessToken == told
                return (note(state.session.announced(told, token), &state), isOther ? storage.decide() : nil)
            }
            if let decision { try? await storage.store(token.result.tokens, decision: decision, isSignIn: false) }
            carryOutAtOnce(effects)
        } catch {
            // The token is announced again over the next connection.
            let isLost = error.isConnectionLoss || (Task.isCancelled && !error.isAnswer)
            let now = timebase.now
            let effects = state.withLock { state in
                let actions =
                    isLost ? [] : state.session.announcementFailed(told, isRejection: error.isRejection, at: now)
                return note(actions, &state, because: error)
            }
            try? await carryOut(effects)
            if isLost { return false }
        }
        return true
    }

    /// Sends a request that signs in the connection, which from then on belongs to its user unless the server refuses.
    func signingIn(_ send: () async throws -> ServiceResponse) async throws -> ServiceResponse {
        guard connections != nil else { return try await send() }
        let id = state.withLock { $0.session.signInRequestBegan() }
        do {
            let response = try await send()
            let hasSignedIn = response[WentBesideConnection.self] != true
            state.withLock { $0.session.signInRequestEnded(id, hasSignedIn: hasSignedIn) }
            return response
        } catch {
            let execution = (error as? FeathersError)?.execution
            let mayHaveSignedIn = execution != .answered && execution != .neverSent
            state.withLock { $0.session.signInRequestEnded(id, hasSignedIn: mayHaveSignedIn) }
            throw error
        }
    }

    private func rest(until moment: Duration?, or change: Promise<Void>) async {
        if let moment { try? await timebase.sleep(until: moment, or: change) } else { try? await change.value() }
    }
}

// MARK: - Opening and reconnecting

extension Authenticator {
    /// Returns the header fields for the handshake: the token, if the options require it.
    private func handshakeHeaders() async throws -> [String: String] {
        let (phase, signIn, leavesOut) = state.withLock { state in
            state.session.connectionOpening()
            connectionChanged(state)
            return (state.session.phase, state.session.signIn, state.leavesOutHandshakeToken)
        }
        guard options.authenticatesHandshake else { return [:] }
        let token: String? =
            switch phase {
            case .signedIn(let signedIn): signedIn.token.result.accessToken
            case .signedOut(.none), .expired: nil
            case .signedOut(.untried), .authenticating: try await storage.read()?.accessToken
            }
        // A token that is not valid in a header is announced over the connection instead, so that the server can judge
        // it.
        let sent = token.flatMap { !leavesOut && (try? AccessToken.check($0, .badRequest)) != nil ? $0 : nil }
        state.withLock { state in
            state.sentHandshakeToken = sent
            if sent != nil, connections != nil { state.session.connection.signIn = signIn }
        }
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
            // The token may be the only reason. The next attempt omits it, and the server judges it over the
            // connection.
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
