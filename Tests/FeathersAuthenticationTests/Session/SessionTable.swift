@testable import FeathersAuthentication

extension Situation {
    /// How the tests write the situation.
    var name: String {
        switch self {
        case .untried: "untried"
        case .nothingStored: "signed out"
        case .signingIn: "signing in"
        case .restoring: "restoring"
        case .signedIn: "present (connection: present)"
        case .signedInForGood: "present (connection: present)"
        case .fetching: "present, fetching (connection: present)"
        case .announcing: "present2, announcing (connection: present)"
        case .expired: "expired"
        }
    }

    /// What each event leads to, and has others do; what is not listed changes nothing.
    var table: [Happening: String] {
        switch self {
        case .untried:
            [
                .call: "restoring, open, publish authenticating, → wait",
                .callAfterEnd: "restoring, open, publish authenticating, → wait",
                .signInRequested: "signing in, open, publish authenticating",
                .restoreRequested: "restoring, open, publish authenticating, → wait",
                .restoreForced: "restoring, open, publish authenticating, → wait",
                .signedIn: "untried (connection: new)",
                .signedInLate: "untried (connection: late)",
                .tokenRejected: "untried, → fail",
                .olderTokenRejected: "untried, → fail",
                .loggedOut: "signed out, remove tokens",
                .announced: "untried (connection: unknown)",
                .announcedOther: "untried (connection: older)",
                .preparing: "restoring, open, publish authenticating, → perform",
                .preparingAtRefresh: "restoring, open, publish authenticating, → perform",
                .accompanying: "untried, → wait",
                .accompanyingAtRefresh: "untried, → wait",
            ]
        case .nothingStored:
            [
                .call: "signed out, → pass as nobody",
                .callAfterEnd: "signed out, → pass as nobody",
                .signInRequested: "signing in, open, publish authenticating",
                .restoreRequested: "restoring, open, publish authenticating, → wait",
                .restoreForced: "restoring, open, publish authenticating, → wait",
                .signedIn: "signed out (connection: new)",
                .signedInLate: "signed out (connection: late)",
                .tokenRejected: "signed out, → fail",
                .olderTokenRejected: "signed out, → fail",
                .loggedOut: "signed out, remove tokens",
                .announced: "signed out (connection: unknown)",
                .announcedOther: "signed out (connection: older)",
                .preparing: "signed out, → done",
                .preparingAtRefresh: "signed out, → done",
                .accompanying: "signed out, → wait",
                .accompanyingAtRefresh: "signed out, → wait",
            ]
        case .signingIn:
            [
                .call: "signing in, → wait",
                .callAfterEnd: "signing in, → wait",
                .signInRequested: "signing in, open, settle superseded",
                .restoreRequested: "signing in, → wait",
                .restoreForced: "signing in, → wait",
                .signedIn: "new (connection: new), publish signed in, settle signed in",
                .signedInLate: "signing in (connection: late)",
                .signInRejected: "signed out, remove tokens, publish signed out, settle failed",
                .signInFailed: "untried, publish signed out, settle failed",
                .nothingFound: "signed out, publish signed out, settle nothing stored",
                .tokenRejected: "signing in, → fail",
                .olderTokenRejected: "signing in, → fail",
                .abandoned: "untried, publish signed out, settle failed",
                .loggedOut: "signed out, remove tokens, publish signed out, settle logged out",
                .announced: "signing in (connection: unknown)",
                .announcedOther: "signing in (connection: older)",
                .preparing: "signing in, → perform",
                .preparingAtRefresh: "signing in, → perform",
                .accompanying: "signing in, → wait",
                .accompanyingAtRefresh: "signing in, → wait",
            ]
        case .restoring:
            [
                .call: "restoring, → wait",
                .callAfterEnd: "restoring, → wait",
                .signInRequested: "signing in, open, settle superseded",
                .restoreRequested: "restoring, → wait",
                .restoreForced: "restoring, → wait",
                .signedIn: "new (connection: new), publish signed in, settle signed in",
                .signedInLate: "restoring (connection: late)",
                .signInRejected: "signed out, remove tokens, publish signed out, settle failed",
                .signInFailed: "untried, publish signed out, settle failed",
                .nothingFound: "signed out, publish signed out, settle nothing stored",
                .tokenRejected: "restoring, → fail",
                .olderTokenRejected: "restoring, → fail",
                .abandoned: "untried, publish signed out, settle failed",
                .loggedOut: "signed out, remove tokens, publish signed out, settle logged out",
                .announced: "restoring (connection: unknown)",
                .announcedOther: "restoring (connection: older)",
                .preparing: "restoring, → perform",
                .preparingAtRefresh: "restoring, → perform",
                .accompanying: "restoring, → wait",
                .accompanyingAtRefresh: "restoring, → wait",
            ]
        case .signedIn:
            [
                .call: "present (connection: present), → pass as present",
                .callAfterEnd: "present (connection: present), → pass as present",
                .signInRequested: "signing in (connection: present), open, publish authenticating",
                .restoreRequested: "present (connection: present), → nothing to do",
                .restoreForced: "restoring (connection: present), open, publish authenticating, → wait",
                .signedIn: "present (connection: new)",
                .signedInLate: "present (connection: late)",
                .tokenRejected: "present, fetching (connection: present), open, → wait",
                .olderTokenRejected: "present (connection: present), → replay",
                .loggedOut: "signed out, remove tokens, publish signed out",
                .connectionOpened: "present",
                .connectionEnded: "present",
                .announcedOther: "present (connection: older)",
                .announcementRejected: "present, fetching (connection: present), open",
                .preparing: "present, → announce present",
                .preparingAtRefresh: "present, fetching, open, → perform",
                .accompanying: "present (connection: present), → wait until 80.0 seconds",
                .accompanyingAtRefresh: "present, fetching (connection: present), open, → perform",
            ]
        case .signedInForGood:
            [
                .call: "present (connection: present), → pass as present",
                .callAfterEnd: "present (connection: present), → pass as present",
                .signInRequested: "signing in (connection: present), open, publish authenticating",
                .restoreRequested: "present (connection: present), → nothing to do",
                .restoreForced: "restoring (connection: present), open, publish authenticating, → wait",
                .signedIn: "present (connection: new)",
                .signedInLate: "present (connection: late)",
                .tokenRejected: "expired, remove tokens, publish expired, → fail",
                .olderTokenRejected: "present (connection: present), → replay",
                .loggedOut: "signed out, remove tokens, publish signed out",
                .connectionOpened: "present",
                .connectionEnded: "present",
                .announcedOther: "present (connection: older)",
                .announcementRejected: "expired, remove tokens, publish expired",
                .preparing: "present, → announce present",
                .preparingAtRefresh: "present, → announce present",
                .accompanying: "present (connection: present), → wait",
                .accompanyingAtRefresh: "present (connection: present), → wait",
            ]
        case .fetching:
            [
                .call: "present, fetching (connection: present), → pass as present",
                .callAfterEnd: "present, fetching (connection: present), → wait",
                .signInRequested: "signing in (connection: present), open, settle superseded, publish authenticating",
                .restoreRequested: "present, fetching (connection: present), → nothing to do",
                .restoreForced: "present, fetching (connection: present), → wait",
                .signedIn: "present, fetching (connection: new)",
                .signedInLate: "present, fetching (connection: late)",
                .refreshed: "new, announcing (connection: present), publish signed in",
                .refreshRejected: "expired, remove tokens, publish expired, settle failed",
                .refreshFailed: "present (connection: present), settle postponed",
                .tokenRejected: "present, fetching (connection: present), → wait",
                .olderTokenRejected: "present, fetching (connection: present), → wait",
                .abandoned: "present (connection: present), settle failed",
                .loggedOut: "signed out, remove tokens, publish signed out, settle logged out",
                .connectionOpened: "present, fetching",
                .connectionEnded: "present, fetching",
                .announcedOther: "present, fetching (connection: older)",
                .preparing: "present, fetching, → perform",
                .preparingAtRefresh: "present, fetching, → perform",
                .accompanying: "present, fetching (connection: present), → perform",
                .accompanyingAtRefresh: "present, fetching (connection: present), → perform",
            ]
        case .announcing:
            [
                .call: "present2, announcing (connection: present), → pass as present2",
                .callAfterEnd: "present2, announcing (connection: present), → wait",
                .signInRequested: "signing in (connection: present), open, settle superseded, publish authenticating",
                .restoreRequested: "present2, announcing (connection: present), → nothing to do",
                .restoreForced: "present2, announcing (connection: present), → wait",
                .signedIn: "present2, announcing (connection: new)",
                .signedInLate: "present2, announcing (connection: late)",
                .tokenRejected: "present2, announcing (connection: present), → wait",
                .olderTokenRejected: "present2, announcing (connection: present), → wait",
                .abandoned: "present2 (connection: present), settle failed",
                .loggedOut: "signed out, remove tokens, publish signed out, settle logged out",
                .connectionOpened: "present2, announcing",
                .connectionEnded: "present2, settle signed in",
                .announced: "present2 (connection: present2), settle signed in",
                .announcedOther: "present2, announcing (connection: older)",
                .announcementRejected: "expired, remove tokens, publish expired, settle failed",
                .announcementFailed: "present2 (connection: present), settle failed",
                .preparing: "present2, announcing, → announce present2",
                .preparingAtRefresh: "present2, announcing, → announce present2",
                .accompanying: "present2, announcing (connection: present), → announce present2",
                .accompanyingAtRefresh: "present2, announcing (connection: present), → announce present2",
            ]
        case .expired:
            [
                .call: "expired, → pass as nobody",
                .callAfterEnd: "expired, → pass as nobody",
                .signInRequested: "signing in, open, publish authenticating",
                .restoreRequested: "restoring, open, publish authenticating, → wait",
                .restoreForced: "restoring, open, publish authenticating, → wait",
                .signedIn: "expired (connection: new)",
                .signedInLate: "expired (connection: late)",
                .tokenRejected: "expired, → fail",
                .olderTokenRejected: "expired, → fail",
                .loggedOut: "signed out, remove tokens, publish signed out",
                .announced: "expired (connection: unknown)",
                .announcedOther: "expired (connection: older)",
                .preparing: "expired, → done",
                .preparingAtRefresh: "expired, → done",
                .accompanying: "expired, → wait",
                .accompanyingAtRefresh: "expired, → wait",
            ]
        }
    }
}
