import FeathersCore
import FeathersSupport

/// Signing out, here and on the server.
extension Authenticator {
    func logOut(_ app: FeathersApp) async throws {
        let known = state.withLock { $0.session.signedIn?.token.result.accessToken }
        let stored = known == nil ? try? await storage.read()?.accessToken : nil
        let (effects, sender, number, told) = state.withLock { state in
            let told = state.session.connection.token
            let effects = note(state.session.loggedOut(), &state)
            return (effects, app.currentSender, state.session.connectionNumber, told)
        }
        var failure: (any Error)?
        do { try await carryOut(effects) } catch { failure = error }
        var end: Departure? = .untold
        do {
            // Calls that hooks make on the way must not wait for it.
            let performing = app.transport is any RealTimeTransport ? ObjectIdentifier(self) : Self.performing
            end = try await Self.$performing.withValue(performing) {
                try await tellServerOfLogOut(token: known ?? stored, app, as: sender)
            }
        } catch {
            failure = failure ?? error
        }
        // The end of a connection, whose server is not told, is an event of its own.
        if let end {
            let departure = state.withLock { state in
                state.session.departed(from: number, untold: end == .told ? nil : told)
                return note([], &state)
            }
            carryOutAtOnce(departure)
        }
        if let failure { throw failure }
    }

    private enum Departure: Sendable { case told, untold }

    /// - Parameter sender: no one, until someone signs in again.
    /// - Returns: whether the server was told; nil if the connection has ended, which is as good.
    private func tellServerOfLogOut(token: String?, _ app: FeathersApp, as sender: RequestSender) async throws -> Departure? {
        var request = ServiceRequest(path: options.path, method: .remove)
        let transport = app.transport as? any RealTimeTransport
        if transport != nil {
            // It does not wait for a connection: the next one knows no user, or the one who has signed in since.
            request.params.concernsConnection = true
            request.params.isVolatile = true
            // Not after a later sign-in, which it would undo.
            request.sender = sender
        }
        if app.callsCarryCredentials {
            if let token, (try? AccessToken.check(token, .badRequest)) != nil {
                request.params.headers[options.header] = headerValue(token)
            }
        } else if let transport {
            switch transport.status {
            case .connecting, .connected: break
            // The server has accepted no connection.
            case .offline, .waiting, .closed: return nil
            }
        }
        do {
            _ = try await app.service(options.path).respond(to: request)
            return .told
        } catch  where error.isRejection {
            // The server knew of no sign-in, which is what was wanted.
            return .told
        } catch  where error.isConnectionLoss && !app.callsCarryCredentials {
            // The connection's end has signed it out.
            return nil
        } catch  where !sender.isCurrent {
            // A later sign-in has taken the connection over.
            return .untold
        }
    }
}
