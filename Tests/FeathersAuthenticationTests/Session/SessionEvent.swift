import FeathersCore

@testable import FeathersAuthentication

/// Everything that can happen to a session.
enum SessionEvent: String, CaseIterable {
    case call, callAfterEnd, signInRequested, restoreRequested, restoreForced
    case signedIn, signedInLate, signInRejected, signInFailed, signInFailedLate, nothingFound
    case refreshed, refreshedLate, refreshRejected, refreshFailed, refreshFailedLate
    case tokenRejected, olderTokenRejected, othersTokenRejected, abandoned, loggedOut
    case connectionOpening, connectionOpened, connectionEnded, announced, announcedOther, announcementRejected, announcementFailed
    case preparing, preparingAtRefresh, accompanying, accompanyingAtRefresh

    /// Lets it happen.
    /// - Returns: the state it leads to, what has to be done, and what whoever reported it does next.
    func happen(to session: inout AuthenticationSession) throws -> String {
        let late = 10_000
        let id = session.pendingID ?? late
        let present = session.signedIn?.token.result.accessToken ?? "unknown"
        let connection = session.connectionNumber
        var rejected = session.signedIn
        if rejected == nil { rejected = AuthenticationSession.SignedIn(token: try .sample("unknown"), version: 0, signIn: session.signIn) }
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
        case .refreshed: actions = session.refreshSucceeded(id, try .sample("new"))
        case .refreshedLate: actions = session.refreshSucceeded(late, try .sample("late"))
        case .refreshRejected: actions = session.refreshFailed(id, isRejection: true, at: early)
        case .refreshFailed: actions = session.refreshFailed(id, isRejection: false, at: early)
        case .refreshFailedLate: actions = session.refreshFailed(late, isRejection: true, at: early)
        case .tokenRejected, .olderTokenRejected, .othersTokenRejected:
            if self == .olderTokenRejected { rejected?.version -= 1 }
            if self == .othersTokenRejected { rejected?.signIn -= 1 }
            if let rejected { (answer, actions) = Self.told(session.tokenRejected(of: rejected)) }
        case .abandoned: actions = session.attemptAbandoned(id)
        case .loggedOut: actions = session.loggedOut()
        case .connectionOpening: session.connectionOpening()
        case .connectionOpened: session.connectionOpened()
        case .connectionEnded: actions = session.connectionEnded()
        case .announced: actions = session.announced(present, try .sample(present, connection: connection))
        case .announcedOther: actions = session.announced("older", try .sample("older", connection: connection))
        case .announcementRejected: actions = session.announcementFailed(present, isRejection: true, at: early)
        case .announcementFailed: actions = session.announcementFailed(present, isRejection: false, at: early)
        case .preparing, .preparingAtRefresh:
            session.connectionOpened()
            (answer, actions) = Self.told(session.preparationStep(at: self == .preparing ? early : .seconds(80)))
        case .accompanying, .accompanyingAtRefresh:
            (answer, actions) = Self.told(session.accompanimentStep(at: self == .accompanying ? early : .seconds(80)))
        }
        return ([Self.name(session)] + actions.map { Self.name($0) } + (answer.isEmpty ? [] : ["→ \(answer)"])).joined(separator: ", ")
    }

    private static func told(_ answer: (passage: AuthenticationSession.Passage, actions: [AuthenticationSession.Action])) -> (
        String, [AuthenticationSession.Action]
    ) {
        switch answer.passage {
        case .pass(let signedIn): (signedIn.map { "pass as \($0.token.result.accessToken)" } ?? "pass as nobody", answer.actions)
        case .wait: ("wait", answer.actions)
        case .waitForDeparture: ("wait for departure", answer.actions)
        }
    }

    private static func told(_ answer: (id: Int?, actions: [AuthenticationSession.Action])) -> (String, [AuthenticationSession.Action]) {
        (answer.id == nil ? "nothing to do" : "wait", answer.actions)
    }

    private static func told(_ answer: (verdict: AuthenticationSession.Verdict, actions: [AuthenticationSession.Action])) -> (
        String, [AuthenticationSession.Action]
    ) {
        switch answer.verdict {
        case .replay: ("replay", answer.actions)
        case .wait: ("wait", answer.actions)
        case .fail: ("fail", answer.actions)
        }
    }

    private static func told(_ answer: (step: AuthenticationSession.Step, actions: [AuthenticationSession.Action])) -> (
        String, [AuthenticationSession.Action]
    ) {
        switch answer.step {
        case .wait: ("wait", answer.actions)
        case .announce(let result): ("announce \(result.accessToken)", answer.actions)
        case .withdraw(let token): ("withdraw \(token)", answer.actions)
        case .rest(let moment): (moment.map { "rest until \($0)" } ?? "rest", answer.actions)
        case .done: ("done", answer.actions)
        }
    }

    private static func name(_ session: AuthenticationSession) -> String {
        let known = session.connection.token.map { " (connection: \($0))" } ?? ""
        switch session.phase {
        case .signedOut(.untried): return "untried" + known
        case .signedOut(.none): return "signed out" + known
        case .authenticating(let attempt): return (attempt.work == .restore ? "restoring" : "signing in") + known
        case .signedIn(let signedIn):
            let stage = signedIn.renewal.map { $0.stage == .fetching ? ", fetching" : ", announcing" } ?? ""
            return "\(signedIn.token.result.accessToken)\(stage)" + known
        case .expired: return "expired" + known
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
