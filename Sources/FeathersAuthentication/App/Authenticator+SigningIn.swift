import FeathersCore
import FeathersSupport

/// What an app asks for itself.
extension Authenticator {
    func signIn(_ credentials: AuthenticationCredentials, _ app: FeathersApp) async throws -> AuthenticationResult {
        try Task.checkCancellation()
        let (id, effects) = state.withLock { state in
            let (id, actions) = state.session.signInRequested()
            state.credentials[id] = credentials
            let effects = note(actions, &state)
            state.work.enter(id)
            return (id, effects)
        }
        carryOutAtOnce(effects)
        let end = try await takePart(in: id, app)
        switch end.outcome {
        case .signedIn(let result): return result
        case .loggedOut: throw Self.loggedOut
        case .failed, .postponed, .nothingStored: throw end.error ?? CancellationError()
        case .superseded: throw FeathersError(.conflict, "Another sign-in took the place of this one")
        }
    }

    func restore(force: Bool, _ app: FeathersApp) async throws -> AuthenticationResult {
        var force = force
        while true {
            try Task.checkCancellation()
            let (id, result, effects) = state.withLock { state in
                let (id, actions) = state.session.restoreRequested(force: force)
                let effects = note(actions, &state)
                if let id { state.work.enter(id) }
                return (id, state.session.signedIn?.token.result, effects)
            }
            carryOutAtOnce(effects)
            guard let id else {
                // Nothing to do is only where somebody is signed in.
                if let result { return result }
                continue
            }
            let end = try await takePart(in: id, app)
            switch end.outcome {
            case .signedIn(let result): return result
            case .loggedOut: throw Self.loggedOut
            case .failed, .postponed, .nothingStored: throw end.error ?? CancellationError()
            case .superseded: force = false
            }
        }
    }

    func logOut(_ app: FeathersApp) async throws {
        let known = state.withLock { $0.session.signedIn?.token.result.accessToken }
        let stored = known == nil ? try? await storage.read()?.accessToken : nil
        let effects = state.withLock { state in note(state.session.loggedOut(), &state) }
        var failure: (any Error)?
        do { try await carryOut(effects) } catch { failure = error }
        do {
            try await tellServerOfLogOut(token: known ?? stored, app)
        } catch  where failure == nil {
            throw error
        } catch {}
        if let failure { throw failure }
    }

    private func tellServerOfLogOut(token: String?, _ app: FeathersApp) async throws {
        var request = ServiceRequest(path: options.path, method: .remove)
        request.params[ConnectionCall.self] = ConnectionCall()
        if let transport = app.transport as? any RealTimeTransport, !app.callsCarryCredentials {
            // The server knows who signed in over a connection; where there is none, it knows nobody.
            switch transport.status {
            case .offline, .closed: return
            case .connecting, .connected, .waiting: break
            }
        } else if let token, (try? AccessToken.check(token, .badRequest)) != nil {
            request.params.headers[options.header] = headerValue(token)
        }
        do {
            _ = try await app.service(options.path).respond(to: request)
        } catch  where error.isRejection {
            // The server knew of no sign-in, which is what was wanted.
        }
    }
}
