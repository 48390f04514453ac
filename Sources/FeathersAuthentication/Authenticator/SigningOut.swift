import FeathersCore
import FeathersSupport

/// Logging out, locally and on the server.
extension Authenticator {
    func logOut(_ app: FeathersApp) async throws { try await app.withoutToken { try await logOutOwnUser(of: app) } }

    private func logOutOwnUser(of app: FeathersApp) async throws {
        let known = state.withLock { $0.session.signedIn?.token.result.accessToken }
        let stored = known == nil ? try? await storage.read()?.accessToken : nil
        let (effects, sender, number, told) = state.withLock { state in
            let told = state.session.connection.token
            let effects = note(state.session.loggedOut(), &state, isLogOut: true)
            return (effects, app.currentSender, state.session.connectionNumber, told)
        }
        var failure: (any Error)?
        do { try await carryOut(effects) } catch { failure = error }
        var isTold = false
        do {
            // Calls that hooks make in the process must not wait for it.
            let performing = app.transport is any RealTimeTransport ? ObjectIdentifier(self) : Self.performing
            isTold = try await Self.$performing.withValue(performing) {
                try await tellServerOfLogOut(token: known ?? stored, app, as: sender)
            }
        } catch {
            failure = failure ?? error
        }
        replaceUnsettledConnection()
        let departure = state.withLock { [isTold] state in
            // The server is notified again, unless the connection has ended.
            state.session.departed(from: number, untold: isTold ? nil : told)
            return note([], &state)
        }
        carryOutAtOnce(departure)
        if let failure { throw failure }
    }

    /// Notifies the server. `sender` has no user, and stays current until the next sign-in.
    /// - Returns: Whether the server was notified over the connection.
    private func tellServerOfLogOut(token: String?, _ app: FeathersApp, as sender: RequestSender) async throws -> Bool {
        var request = ServiceRequest(path: options.path, method: .remove)
        let transport = app.transport as? any RealTimeTransport
        if transport != nil {
            // The request does not wait for a connection: the next one has no user, or the user who has signed in since.
            request.params.concernsConnection = true
            request.params.isVolatile = true
            // The request must not be sent after a later sign-in, which it would undo.
            request.sender = sender
        }
        if app.callsCarryCredentials {
            if let token, (try? AccessToken.check(token, .badRequest)) != nil {
                request.params.setToken(options.header, tokenForm.value(of: token), of: sender)
            }
        } else if let transport {
            switch transport.status {
            case .connecting, .connected: break
            // The server has not accepted a connection.
            case .offline, .waiting, .closed: return false
            }
        }
        do {
            let response = try await app.service(options.path).respond(to: request)
            // Over REST, the log-out ends the token, and the connection that is being prepared remains signed in.
            return response[WentBesideConnection.self] != true
        } catch  where error.isRejection {
            // The server had no sign-in to end, which is the desired result. It may have been REST's response.
            return !app.callsCarryCredentials
        } catch  where error.isConnectionLoss && !app.callsCarryCredentials {
            // The connection's end ends the sign-in.
            return false
        } catch  where !sender.isCurrent {
            // A later sign-in now owns the connection.
            return false
        }
    }
}
