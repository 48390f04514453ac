import FeathersCore
import FeathersSupport

/// Logging out, locally and on the server.
extension Authenticator {
    func logOut(_ app: FeathersApp) async throws { try await app.asOwnWork { try await logOutOwnUser(of: app) } }

    /// How long a log-out waits for the server. The end of the connection ends the sign-in anyway.
    private static let patience = Duration.seconds(5)

    private func logOutOwnUser(of app: FeathersApp) async throws {
        let known = state.withLock { $0.session.signedIn?.token.result.accessToken }
        let stored = known == nil ? try? await storage.read()?.accessToken : nil
        let (effects, sender) = state.withLock { state in
            var effects = note(state.session.loggedOut(), &state, isLogOut: true)
            // The server is notified first.
            effects.endsConnection = false
            return (effects, app.currentSender)
        }
        // Only a connection that was retired is replaced. A later sign-in may have replaced it already.
        defer { connections?.replaceConnection() }
        var failure: (any Error)?
        do { try await carryOut(effects) } catch { failure = error }
        do {
            try await tellServerOfLogOut(token: known ?? stored, app, as: sender)
        } catch {
            failure = failure ?? error
        }
        if let failure { throw failure }
    }

    /// Notifies the server. `sender` has no user, and stays current until the next sign-in.
    private func tellServerOfLogOut(token: String?, _ app: FeathersApp, as sender: RequestSender) async throws {
        var request = ServiceRequest(path: options.path, method: .remove)
        if app.callsCarryCredentials, let token, (try? AccessToken.check(token, .badRequest)) != nil {
            request.params.setToken(options.header, tokenForm.value(of: token), of: sender)
        }
        let service = app.service(options.path)
        guard let transport = app.transport as? any RealTimeTransport else {
            do { _ = try await service.respond(to: request) } catch  where error.isRejection {
                // The server had no sign-in to end, which is the desired result.
            }
            return
        }
        if !app.callsCarryCredentials {
            switch transport.status {
            case .connecting, .connected: break
            // The server has not accepted a connection.
            case .offline, .waiting, .closed: return
            }
        }
        // The request does not wait for a connection: the next one has no user, or the user who has signed in since.
        (request.params.concernsConnection, request.params.endsConnection) = (true, true)
        request.params.isVolatile = true
        // The request must not be sent after a later sign-in, which it would undo.
        request.sender = sender
        let late = FeathersError(.timeout, "The server did not respond to the log-out", execution: .mayHaveExecuted)
        do {
            // Calls that hooks make in the process must not wait for it.
            try await Self.$performing.withValue(ObjectIdentifier(self)) {
                try await Self.$isLoggingOut.withValue(true) {
                    try await timebase.run(atMost: connections == nil ? nil : Self.patience, orThrow: late) {
                        [request] in
                        _ = try await service.respond(to: request)
                    }
                }
            }
        } catch  where error.isRejection {
            // The server had no sign-in to end, which is the desired result.
        } catch  where error.isConnectionLoss && !app.callsCarryCredentials {
            // The connection's end ends the sign-in.
        } catch  where (error as? FeathersError)?.code == .timeout && connections != nil {
            // The same, because the connection ends now.
        } catch  where !sender.isCurrent {
            // A later sign-in has its own connection.
        }
    }
}
