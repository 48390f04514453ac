import FeathersCore

@testable import FeathersAuthentication

/// The states a session can be in, reached by events alone.
enum InitialState: String, CaseIterable {
    case untried, nothingStored, signingIn, restoring, signedIn, signedInForGood, fetching, announcing, expired

    /// A session with a connection that stands, unless said otherwise; its tokens end at 100 s and are refreshed at 80
    /// s.
    func session(keepsConnection: Bool = true) throws -> AuthenticationSession {
        var session = AuthenticationSession(keepsConnection: keepsConnection)
        if keepsConnection {
            session.connectionOpened()
            session.connectionPrepared()
        }
        switch self {
        case .untried: break
        case .nothingStored: _ = session.loggedOut()
        case .signingIn: _ = session.signInRequested(.jwt("x"))
        case .restoring: _ = session.restoreRequested(force: false)
        case .signedIn: try signIn(&session, "present", canRefresh: true)
        case .signedInForGood: try signIn(&session, "present", canRefresh: false)
        case .fetching:
            try signIn(&session, "present", canRefresh: true)
            _ = session.beginRefresh(isUrgent: false)
        case .announcing:
            try signIn(&session, "present", canRefresh: true)
            let id = session.beginRefresh(isUrgent: false).id
            _ = session.renewed(id, try .sample("present2"), at: .zero, random: 0)
        case .expired:
            try signIn(&session, "present", canRefresh: false)
            _ = session.expire()
        }
        return session
    }

    private func signIn(_ session: inout AuthenticationSession, _ token: String, canRefresh: Bool) throws {
        let id = session.signInRequested(.jwt("x")).id
        let request = session.signInRequestBegan()
        session.signInRequestEnded(request, hasSignedIn: session.keepsConnection)
        _ = session.signInSucceeded(
            id, try .sample(token, canRefresh: canRefresh, connection: session.connectionNumber))
    }
}

extension IssuedToken {
    static func sample(_ token: String, canRefresh: Bool = true, connection: Int? = nil) throws -> IssuedToken {
        IssuedToken(
            result: try AuthenticationResult(["accessToken": .string(token)]), expiry: .seconds(100),
            refreshMoment: canRefresh ? .seconds(80) : nil, canRefresh: canRefresh, connection: connection)
    }
}
