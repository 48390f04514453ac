import FeathersCore
import FeathersSupport

/// The authenticator's work on every connection of a real-time transport.
extension Authenticator {
    var connectionSetup: ConnectionSetup {
        ConnectionSetup(
            headers: { [weak self] in try await self?.handshakeHeaders() ?? [:] },
            prepare: { [weak self] in await self?.prepare($0) },
            accompany: { [weak self] _ in await self?.accompany() },
            reconnects: { [weak self] in self?.reconnects(after: $0) ?? false })
    }

    /// Signs in a connection before any call uses it: waits for an attempt in progress, or begins one for a stored
    /// token, and announces the result.
    private func prepare(_ send: @escaping ConnectionSetup.Send) async {
        let mustEnd = state.withLock { state in
            state.session.connectionOpened()
            state.send = send
            return retireConnection(&state)
        }
        // The user whose token was in the handshake has left meanwhile.
        if mustEnd { connections?.replaceConnection() }
        _ = try? await proceed { [timebase] state, _ in state.session.needBeforeCalls(at: timebase.now) }
        guard !Task.isCancelled else { return connectionEnded() }
        state.withLock { state in
            // The server has accepted this connection, so the next handshake may include the token again.
            state.leavesOutHandshakeToken = false
            state.session.connectionPrepared()
        }
    }

    /// Keeps a connection signed in until it ends.
    private func accompany() async {
        carryOutAtOnce(state.withLock { note([], &$0) })
        defer { connectionEnded() }
        // Recovery replays missed events. Events that were pushed before the server recognized the user again reached
        // no one, and are not replayed.
        if let app = app(), app.identity != nil, case .connected(recovered: true)? = app.connectionStatus {
            app.pushedEventsMissed()
        }
        _ = try? await proceed { [timebase] state, _ in state.session.needDuringCalls(at: timebase.now) }
    }

    private func connectionEnded() {
        carryOutAtOnce(
            state.withLock { state in
                state.send = nil
                return note(state.session.connectionEnded(), &state)
            })
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

    /// Returns whether to reconnect after the server has refused the connection.
    private func reconnects(after reason: DisconnectReason) -> Bool {
        guard case .refused = reason else { return false }
        // The token may be the only reason. The next attempt omits it, and the server judges it over the connection.
        return state.withLock { state in
            state.leavesOutHandshakeToken = state.sentHandshakeToken != nil
            return state.leavesOutHandshakeToken
        }
    }
}
