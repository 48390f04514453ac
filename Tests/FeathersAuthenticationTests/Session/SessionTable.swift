@testable import FeathersAuthentication

extension InitialState {
    /// How the tests write the state, and to whom the connection belongs: `own` is the present user.
    var name: String {
        switch self {
        case .untried: "untried"
        case .nothingStored: "signed out"
        case .signingIn: "signing in"
        case .restoring: "restoring"
        case .signedIn: "present (connection: own, present)"
        case .signedInForGood: "present (connection: own, present)"
        case .fetching: "present, fetching (connection: own, present)"
        case .announcing: "present2, announcing (connection: own, present)"
        case .expired: "expired (connection: ends, present)"
        }
    }

    /// What each event leads to, and has others do; what is not listed changes nothing.
    var table: [SessionEvent: String] {
        switch self {
        case .untried:
            [
                .call: "restoring, begin, publish authenticating, → wait",
                .callAfterEnd: "restoring, begin, publish authenticating, → wait",
                .signInRequested: "signing in, begin, publish authenticating",
                .restoreRequested: "restoring, begin, publish authenticating, → wait",
                .restoreForced: "restoring, begin, publish authenticating, → wait",
                .tokenRejected: "untried, → fail",
                .olderTokenRejected: "untried, → fail",
                .othersTokenRejected: "untried, → fail",
                .loggedOut: "signed out, remove tokens",
                .requestAnswered: "untried (connection: own)",
                .loggedOutDuringRequest: "signed out (connection: ends), remove tokens",
                .preparing: "restoring, begin, publish authenticating, → wait",
                .preparingAtRefresh: "restoring, begin, publish authenticating, → wait",
                .accompanying: "untried, → rest",
                .accompanyingAtRefresh: "untried, → rest",
            ]
        case .nothingStored:
            [
                .call: "signed out, → send as nobody",
                .callAfterEnd: "signed out, → send as nobody",
                .signInRequested: "signing in, begin, publish authenticating",
                .restoreRequested: "restoring, begin, publish authenticating, → wait",
                .restoreForced: "restoring, begin, publish authenticating, → wait",
                .tokenRejected: "signed out, → fail",
                .olderTokenRejected: "signed out, → fail",
                .othersTokenRejected: "signed out, → fail",
                .loggedOut: "signed out, remove tokens",
                .requestAnswered: "signed out (connection: own)",
                .loggedOutDuringRequest: "signed out (connection: ends), remove tokens",
                .preparing: "signed out, → send as nobody",
                .preparingAtRefresh: "signed out, → send as nobody",
                .accompanying: "signed out, → rest",
                .accompanyingAtRefresh: "signed out, → rest",
            ]
        case .signingIn:
            [
                .call: "signing in, → wait",
                .callAfterEnd: "signing in, → wait",
                .signInRequested: "signing in, begin, settle superseded",
                .restoreRequested: "signing in, → wait",
                .restoreForced: "signing in, → wait",
                .signedIn: "new (connection: new), publish signed in, settle signed in",
                .signInRejected: "signed out, remove tokens, publish signed out, settle failed",
                .signInFailed: "untried, publish signed out, settle failed",
                .nothingFound: "signed out, publish signed out, settle nothing stored",
                .tokenRejected: "signing in, → fail",
                .olderTokenRejected: "signing in, → fail",
                .othersTokenRejected: "signing in, → fail",
                .abandoned: "untried, publish signed out, settle failed",
                .loggedOut: "signed out, remove tokens, publish signed out, settle logged out",
                .requestAnswered: "signing in (connection: own)",
                .loggedOutDuringRequest:
                    "signed out (connection: ends), remove tokens, publish signed out, settle logged out",
                .preparing: "signing in, → wait",
                .preparingAtRefresh: "signing in, → wait",
                .accompanying: "signing in, → rest",
                .accompanyingAtRefresh: "signing in, → rest",
            ]
        case .restoring:
            [
                .call: "restoring, → wait",
                .callAfterEnd: "restoring, → wait",
                .signInRequested: "signing in, begin, settle superseded",
                .restoreRequested: "restoring, → wait",
                .restoreForced: "restoring, → wait",
                .signedIn: "new (connection: new), publish signed in, settle signed in",
                .signInRejected: "signed out, remove tokens, publish signed out, settle failed",
                .signInFailed: "untried, publish signed out, settle failed",
                .nothingFound: "signed out, publish signed out, settle nothing stored",
                .tokenRejected: "restoring, → fail",
                .olderTokenRejected: "restoring, → fail",
                .othersTokenRejected: "restoring, → fail",
                .abandoned: "untried, publish signed out, settle failed",
                .loggedOut: "signed out, remove tokens, publish signed out, settle logged out",
                .requestAnswered: "restoring (connection: own)",
                .loggedOutDuringRequest:
                    "signed out (connection: ends), remove tokens, publish signed out, settle logged out",
                .preparing: "restoring, → wait",
                .preparingAtRefresh: "restoring, → wait",
                .accompanying: "restoring, → rest",
                .accompanyingAtRefresh: "restoring, → rest",
            ]
        case .signedIn:
            [
                .call: "present (connection: own, present), → send as present",
                .callAfterEnd: "present (connection: own, present), → send as present",
                .signInRequested: "signing in (connection: ends, present), begin, publish authenticating",
                .restoreRequested: "present (connection: own, present), → nothing to do",
                .restoreForced: "restoring (connection: own, present), begin, publish authenticating, → wait",
                .tokenRejected: "present, fetching (connection: own, present), begin, → wait",
                .olderTokenRejected: "present (connection: own, present), → send as present",
                .othersTokenRejected: "present (connection: own, present), → fail",
                .loggedOut: "signed out (connection: ends, present), remove tokens, publish signed out",
                .connectionOpening: "present (connection: own)",
                .connectionOpened: "present (connection: own)",
                .connectionEnded: "present (connection: own)",
                .loggedOutDuringRequest: "signed out (connection: ends, present), remove tokens, publish signed out",
                .preparing: "present, announcing (connection: own), begin, → wait",
                .preparingAtRefresh: "present, fetching (connection: own), begin, → wait",
                .accompanying: "present (connection: own, present), → rest until 80.0 seconds",
                .accompanyingAtRefresh: "present, fetching (connection: own, present), begin, → wait",
            ]
        case .signedInForGood:
            [
                .call: "present (connection: own, present), → send as present",
                .callAfterEnd: "present (connection: own, present), → send as present",
                .signInRequested: "signing in (connection: ends, present), begin, publish authenticating",
                .restoreRequested: "present (connection: own, present), → nothing to do",
                .restoreForced: "restoring (connection: own, present), begin, publish authenticating, → wait",
                .tokenRejected: "expired (connection: ends, present), remove tokens, publish expired, → fail",
                .olderTokenRejected: "present (connection: own, present), → send as present",
                .othersTokenRejected: "present (connection: own, present), → fail",
                .loggedOut: "signed out (connection: ends, present), remove tokens, publish signed out",
                .connectionOpening: "present (connection: own)",
                .connectionOpened: "present (connection: own)",
                .connectionEnded: "present (connection: own)",
                .loggedOutDuringRequest: "signed out (connection: ends, present), remove tokens, publish signed out",
                .preparing: "present, announcing (connection: own), begin, → wait",
                .preparingAtRefresh: "present, announcing (connection: own), begin, → wait",
                .accompanying: "present (connection: own, present), → rest",
                .accompanyingAtRefresh: "present (connection: own, present), → rest",
            ]
        case .fetching:
            [
                .call: "present, fetching (connection: own, present), → send as present",
                .callAfterEnd: "present, fetching (connection: own, present), → wait",
                .signInRequested:
                    "signing in (connection: ends, present), begin, settle superseded, publish authenticating",
                .restoreRequested: "present, fetching (connection: own, present), → nothing to do",
                .restoreForced: "present, fetching (connection: own, present), → wait",
                .refreshed: "new, announcing (connection: own, present), publish signed in, begin",
                .refreshRejected: "expired (connection: ends, present), remove tokens, publish expired, settle failed",
                .refreshFailed: "present (connection: own, present), settle postponed",
                .announced: "present (connection: own, present), settle signed in",
                .announcementLost: "present (connection: own, present), settle postponed",
                .tokenRejected: "present, fetching (connection: own, present), → wait",
                .olderTokenRejected: "present, fetching (connection: own, present), → wait",
                .othersTokenRejected: "present, fetching (connection: own, present), → fail",
                .loggedOut:
                    "signed out (connection: ends, present), remove tokens, publish signed out, settle logged out",
                .connectionOpening: "present, fetching (connection: own)",
                .connectionOpened: "present, fetching (connection: own)",
                .connectionEnded: "present, fetching (connection: own)",
                .loggedOutDuringRequest:
                    "signed out (connection: ends, present), remove tokens, publish signed out, settle logged out",
                .preparing: "present, fetching (connection: own), → wait",
                .preparingAtRefresh: "present, fetching (connection: own), → wait",
                .accompanying: "present, fetching (connection: own, present), → rest",
                .accompanyingAtRefresh: "present, fetching (connection: own, present), → rest",
            ]
        case .announcing:
            [
                .call: "present2, announcing (connection: own, present), → send as present2",
                .callAfterEnd: "present2, announcing (connection: own, present), → wait",
                .signInRequested:
                    "signing in (connection: ends, present), begin, settle superseded, publish authenticating",
                .restoreRequested: "present2, announcing (connection: own, present), → nothing to do",
                .restoreForced: "present2, announcing (connection: own, present), → wait",
                .refreshed: "new (connection: own, present), publish signed in, settle signed in",
                .refreshRejected:
                    "expired (connection: ends, present), remove tokens, publish expired, settle failed",
                .refreshFailed: "present2 (connection: own, present), settle failed",
                .announcementLost: "present2 (connection: own, present), settle postponed",
                .tokenRejected: "present2, announcing (connection: own, present), → wait",
                .olderTokenRejected: "present2, announcing (connection: own, present), → wait",
                .othersTokenRejected: "present2, announcing (connection: own, present), → fail",
                .loggedOut:
                    "signed out (connection: ends, present), remove tokens, publish signed out, settle logged out",
                .connectionOpening: "present2, announcing (connection: own)",
                .connectionOpened: "present2, announcing (connection: own)",
                .connectionEnded: "present2 (connection: own), settle signed in",
                .announced: "present2 (connection: own, present2), settle signed in",
                .loggedOutDuringRequest:
                    "signed out (connection: ends, present), remove tokens, publish signed out, settle logged out",
                .preparing: "present2, announcing (connection: own), → wait",
                .preparingAtRefresh: "present2, announcing (connection: own), → wait",
                .accompanying: "present2, announcing (connection: own, present), → rest",
                .accompanyingAtRefresh: "present2, announcing (connection: own, present), → rest",
            ]
        case .expired:
            [
                .call: "expired (connection: ends, present), → send as nobody",
                .callAfterEnd: "expired (connection: ends, present), → send as nobody",
                .signInRequested: "signing in (connection: ends, present), begin, publish authenticating",
                .restoreRequested: "restoring (connection: ends, present), begin, publish authenticating, → wait",
                .restoreForced: "restoring (connection: ends, present), begin, publish authenticating, → wait",
                .tokenRejected: "expired (connection: ends, present), → fail",
                .olderTokenRejected: "expired (connection: ends, present), → fail",
                .othersTokenRejected: "expired (connection: ends, present), → fail",
                .loggedOut: "signed out (connection: ends, present), remove tokens, publish signed out",
                .connectionOpening: "expired",
                .connectionOpened: "expired",
                .connectionEnded: "expired (connection: ends)",
                .loggedOutDuringRequest: "signed out (connection: ends, present), remove tokens, publish signed out",
                .preparing: "expired, → send as nobody",
                .preparingAtRefresh: "expired, → send as nobody",
                .accompanying: "expired (connection: ends, present), → rest",
                .accompanyingAtRefresh: "expired (connection: ends, present), → rest",
            ]
        }
    }
}
