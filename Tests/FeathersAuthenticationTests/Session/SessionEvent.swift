import FeathersCore

@testable import FeathersAuthentication

/// Everything that can happen to a session.
enum SessionEvent: String, CaseIterable {
    case call, callAfterEnd, signInRequested, restoreRequested, restoreForced
    case signedIn, signedInLate, signInRejected, signInFailed, signInFailedLate, nothingFound
    case refreshed, refreshedLate, refreshRejected, refreshFailed, refreshFailedLate
    case tokenRejected, olderTokenRejected, othersTokenRejected, abandoned, loggedOut
    case connectionOpening, connectionOpened, connectionEnded, announced, announcementLost
    case requestSent, requestAnswered, requestRefused, loggedOutDuringRequest
    case preparing, preparingAtRefresh, accompanying, accompanyingAtRefresh

    /// Lets it happen.
    /// - Returns: the state it leads to, what has to be done, and what whoever reported it does next.
    func happen(to session: inout AuthenticationSession) throws -> String {
        let late = 10_000
        let id = session.pendingID ?? late
        let present = session.signedIn?.token.result.accessToken ?? "unknown"
        let connection = session.connectionNumber
        var rejected = session.signedIn
        if rejected == nil {
            rejected = AuthenticationSession.SignedIn(token: try .sample("unknown"), version: 0, signIn: session.signIn)
        }
        let early = Duration.seconds(10)
        var answer = ""
        var actions: [AuthenticationSession.Action] = []
        switch self {
        case .call: (answer, actions) = Self.told(session.callBegan(at: early))
        case .callAfterEnd: (answer, actions) = Self.told(session.callBegan(at: .seconds(101)))
        case .signInRequested: actions = session.signInRequested(.jwt("other")).actions
        case .restoreRequested: (answer, actions) = Self.told(session.restoreRequested(force: false))
        case .restoreForced: (answer, actions) = Self.told(session.restoreRequested(force: true))
        case .signedIn: actions = session.signInSucceeded(id, try .sample("new", connection: connection))
        case .signedInLate: actions = session.signInSucceeded(late, try .sample("late", connection: connection))
        case .signInRejected: actions = session.signInFailed(id, isRejection: true)
        case .signInFailed: actions = session.signInFailed(id, isRejection: false)
        case .signInFailedLate: actions = session.signInFailed(late, isRejection: true)
        case .nothingFound: actions = session.foundNothingStored(id)
        case .refreshed: actions = session.renewed(id, try .sample("new"), at: early, random: 0)
        case .refreshedLate: actions = session.renewed(late, try .sample("late"), at: early, random: 0)
        case .refreshRejected: actions = session.renewalFailed(id, isRejection: true, at: early, random: 0)
        case .refreshFailed: actions = session.renewalFailed(id, isRejection: false, at: early, random: 0)
        case .refreshFailedLate: actions = session.renewalFailed(late, isRejection: true, at: early, random: 0)
        case .tokenRejected, .olderTokenRejected, .othersTokenRejected:
            if self == .olderTokenRejected { rejected?.version -= 1 }
            if self == .othersTokenRejected { rejected?.signIn -= 1 }
            if let rejected { (answer, actions) = Self.told(session.tokenRejected(of: rejected, at: early)) }
        case .abandoned: actions = session.attemptAbandoned(id)
        case .loggedOut: actions = session.loggedOut()
        case .connectionOpening: session.connectionOpening()
        case .connectionOpened: session.connectionOpened()
        case .connectionEnded: actions = session.connectionEnded()
        case .announced:
            actions = session.renewed(id, try .sample(present, connection: connection), at: early, random: 0)
        case .announcementLost:
            actions = session.renewalFailed(id, isRejection: false, isLost: true, at: early, random: 0)
        case .requestSent: _ = session.signInRequestBegan()
        case .requestAnswered, .requestRefused:
            session.signInRequestEnded(session.signInRequestBegan(), hasSignedIn: self == .requestAnswered)
        case .loggedOutDuringRequest:
            let request = session.signInRequestBegan()
            actions = session.loggedOut()
            session.signInRequestEnded(request, hasSignedIn: false)
        case .preparing, .preparingAtRefresh:
            session.connectionOpened()
            (answer, actions) = Self.told(session.needBeforeCalls(at: self == .preparing ? early : .seconds(80)))
        case .accompanying, .accompanyingAtRefresh:
            (answer, actions) = Self.told(session.needDuringCalls(at: self == .accompanying ? early : .seconds(80)))
        }
        return ([Self.name(session)] + actions.map { Self.name($0) } + (answer.isEmpty ? [] : ["→ \(answer)"])).joined(
            separator: ", ")
    }

    private static func told(
        _ answer: (permission: AuthenticationSession.Permission, actions: [AuthenticationSession.Action])
    ) -> (String, [AuthenticationSession.Action]) {
        switch answer.permission {
        case .send(let signedIn):
            (signedIn.map { "send as \($0.token.result.accessToken)" } ?? "send as nobody", answer.actions)
        case .wait: ("wait", answer.actions)
        case .rest(let moment): (moment.map { "rest until \($0)" } ?? "rest", answer.actions)
        case .fail: ("fail", answer.actions)
        }
    }

    private static func told(_ answer: (id: Int?, actions: [AuthenticationSession.Action])) -> (
        String, [AuthenticationSession.Action]
    ) {
        (answer.id == nil ? "nothing to do" : "wait", answer.actions)
    }

    private static func name(_ session: AuthenticationSession) -> String {
        let owner = session.connection.signIn == nil ? "" : session.connectionMustEnd ? "ends" : "own"
        let known = [owner, session.connection.token ?? ""].filter { !$0.isEmpty }.joined(separator: ", ")
        let connection = known.isEmpty ? "" : " (connection: \(known))"
        switch session.phase {
        case .signedOut(.untried): return "untried" + connection
        case .signedOut(.none): return "signed out" + connection
        case .authenticating(_, let work): return (work == .restore ? "restoring" : "signing in") + connection
        case .signedIn(let signedIn):
            let refresh = signedIn.renewal.map { $0.isAnnouncement ? ", announcing" : ", fetching" } ?? ""
            return "\(signedIn.token.result.accessToken)\(refresh)" + connection
        case .expired: return "expired" + connection
        }
    }

    private static func name(_ action: AuthenticationSession.Action) -> String {
        switch action {
        case .begin: return "begin"
        case .removeTokens: return "remove tokens"
        case .publish(let state):
            switch state {
            case .signedOut: return "publish signed out"
            case .authenticating: return "publish authenticating"
            case .signedIn: return "publish signed in"
            case .expired: return "publish expired"
            }
        case .settle(_, let outcome):
            switch outcome {
            case .signedIn: return "settle signed in"
            case .nothingStored: return "settle nothing stored"
            case .failed: return "settle failed"
            case .postponed: return "settle postponed"
            case .superseded: return "settle superseded"
            case .loggedOut: return "settle logged out"
            }
        }
    }
}
