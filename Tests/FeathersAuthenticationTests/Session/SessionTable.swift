@testable import FeathersAuthentication

extension InitialState {
    /// How the tests write the state.
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
    var table: [SessionEvent: String] {
        switch self {
        case .untried:
            [
                .call: "restoring, begin, publish authenticating, → wait",
                .callAfterEnd: "restoring, begin, publish authenticating, → wait",
                .signInRequested: "signing in, begin, publish authenticating",
                .restoreRequested: "restoring, begin, publish authenticating, → wait",
                .restoreForced: "restoring, begin, publish authenticating, → wait",
                .signedIn: "untried (connection: new)",
                .signedInLate: "untried (connection: late)",
                .tokenRejected: "untried, → fail",
                .olderTokenRejected: "untried, → fail",
                .othersTokenRejected: "untried, → fail",
                .loggedOut: "signed out, remove tokens",
                .announced: "untried (connection: unknown)",
                .announcedOther: "untried (connection: older)",
                .preparing: "restoring, begin, publish authenticating, → wait",
                .preparingAtRefresh: "restoring, begin, publish authenticating, → wait",
                .accompanying: "untried, → rest",
                .accompanyingAtRefresh: "untried, → rest",
            ]
        case .nothingStored:
            [
                .call: "signed out, → pass as nobody",
                .callAfterEnd: "signed out, → pass as nobody",
                .signInRequested: "signing in, begin, publish authenticating",
                .restoreRequested: "restoring, begin, publish authenticating, → wait",
                .restoreForced: "restoring, begin, publish authenticating, → wait",
                .signedIn: "signed out (connection: new)",
                .signedInLate: "signed out (connection: late)",
                .tokenRejected: "signed out, → fail",
                .olderTokenRejected: "signed out, → fail",
                .othersTokenRejected: "signed out, → fail",
                .loggedOut: "signed out, remove tokens",
                .announced: "signed out (connection: unknown)",
                .announcedOther: "signed out (connection: older)",
                .preparing: "signed out, → done",
                .preparingAtRefresh: "signed out, → done",
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
                .signedInLate: "signing in (connection: late)",
                .signInRejected: "signed out, remove tokens, publish signed out, settle failed",
                .signInFailed: "untried, publish signed out, settle failed",
                .nothingFound: "signed out, publish signed out, settle nothing stored",
                .tokenRejected: "signing in, → fail",
                .olderTokenRejected: "signing in, → fail",
                .othersTokenRejected: "signing in, → fail",
                .abandoned: "untried, publish signed out, settle failed",
                .loggedOut: "signed out, remove tokens, publish signed out, settle logged out",
                .announced: "signing in (connection: unknown)",
                .announcedOther: "signing in (connection: older)",
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
                .signedInLate: "restoring (connection: late)",
                .signInRejected: "signed out, remove tokens, publish signed out, settle failed",
                .signInFailed: "untried, publish signed out, settle failed",
                .nothingFound: "signed out, publish signed out, settle nothing stored",
                .tokenRejected: "restoring, → fail",
                .olderTokenRejected: "restoring, → fail",
                .othersTokenRejected: "restoring, → fail",
                .abandoned: "untried, publish signed out, settle failed",
                .loggedOut: "signed out, remove tokens, publish signed out, settle logged out",
                .announced: "restoring (connection: unknown)",
                .announcedOther: "restoring (connection: older)",
                .preparing: "restoring, → wait",
                .preparingAtRefresh: "restoring, → wait",
                .accompanying: "restoring, → rest",
                .accompanyingAtRefresh: "restoring, → rest",
            ]
        case .signedIn:
            [
                .call: "present (connection: present), → pass as present",
                .callAfterEnd: "present (connection: present), → pass as present",
                .signInRequested: "signing in (connection: present), begin, publish authenticating",
                .restoreRequested: "present (connection: present), → nothing to do",
                .restoreForced: "restoring (connection: present), begin, publish authenticating, → wait",
                .signedIn: "present (connection: new)",
                .signedInLate: "present (connection: late)",
                .tokenRejected: "present, fetching (connection: present), begin, → wait",
                .olderTokenRejected: "present (connection: present), → replay",
                .othersTokenRejected: "present (connection: present), → fail",
                .loggedOut: "signed out, remove tokens, publish signed out",
                .connectionOpened: "present",
                .connectionEnded: "present",
                .announcedOther: "present (connection: older)",
                .announcementRejected: "present, fetching (connection: present), begin",
                .preparing: "present, → announce present",
                .preparingAtRefresh: "present, fetching, begin, → wait",
                .accompanying: "present (connection: present), → rest until 80.0 seconds",
                .accompanyingAtRefresh: "present, fetching (connection: present), begin, → rest",
            ]
        case .signedInForGood:
            [
                .call: "present (connection: present), → pass as present",
                .callAfterEnd: "present (connection: present), → pass as present",
                .signInRequested: "signing in (connection: present), begin, publish authenticating",
                .restoreRequested: "present (connection: present), → nothing to do",
                .restoreForced: "restoring (connection: present), begin, publish authenticating, → wait",
                .signedIn: "present (connection: new)",
                .signedInLate: "present (connection: late)",
                .tokenRejected: "expired, remove tokens, publish expired, → fail",
                .olderTokenRejected: "present (connection: present), → replay",
                .othersTokenRejected: "present (connection: present), → fail",
                .loggedOut: "signed out, remove tokens, publish signed out",
                .connectionOpened: "present",
                .connectionEnded: "present",
                .announcedOther: "present (connection: older)",
                .announcementRejected: "expired, remove tokens, publish expired",
                .preparing: "present, → announce present",
                .preparingAtRefresh: "present, → announce present",
                .accompanying: "present (connection: present), → rest",
                .accompanyingAtRefresh: "present (connection: present), → rest",
            ]
        case .fetching:
            [
                .call: "present, fetching (connection: present), → pass as present",
                .callAfterEnd: "present, fetching (connection: present), → wait",
                .signInRequested: "signing in (connection: present), begin, settle superseded, publish authenticating",
                .restoreRequested: "present, fetching (connection: present), → nothing to do",
                .restoreForced: "present, fetching (connection: present), → wait",
                .signedIn: "present, fetching (connection: new)",
                .signedInLate: "present, fetching (connection: late)",
                .refreshed: "new, announcing (connection: present), publish signed in",
                .refreshRejected: "expired, remove tokens, publish expired, settle failed",
                .refreshFailed: "present (connection: present), settle postponed",
                .tokenRejected: "present, fetching (connection: present), → wait",
                .olderTokenRejected: "present, fetching (connection: present), → wait",
                .othersTokenRejected: "present, fetching (connection: present), → fail",
                .loggedOut: "signed out, remove tokens, publish signed out, settle logged out",
                .connectionOpened: "present, fetching",
                .connectionEnded: "present, fetching",
                .announcedOther: "present, fetching (connection: older)",
                .preparing: "present, fetching, → wait",
                .preparingAtRefresh: "present, fetching, → wait",
                .accompanying: "present, fetching (connection: present), → rest",
                .accompanyingAtRefresh: "present, fetching (connection: present), → rest",
            ]
        case .announcing:
            [
                .call: "present2, announcing (connection: present), → pass as present2",
                .callAfterEnd: "present2, announcing (connection: present), → wait",
                .signInRequested: "signing in (connection: present), begin, settle superseded, publish authenticating",
                .restoreRequested: "present2, announcing (connection: present), → nothing to do",
                .restoreForced: "present2, announcing (connection: present), → wait",
                .signedIn: "present2, announcing (connection: new)",
                .signedInLate: "present2, announcing (connection: late)",
                .tokenRejected: "present2, announcing (connection: present), → wait",
                .olderTokenRejected: "present2, announcing (connection: present), → wait",
                .othersTokenRejected: "present2, announcing (connection: present), → fail",
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
                .signInRequested: "signing in, begin, publish authenticating",
                .restoreRequested: "restoring, begin, publish authenticating, → wait",
                .restoreForced: "restoring, begin, publish authenticating, → wait",
                .signedIn: "expired (connection: new)",
                .signedInLate: "expired (connection: late)",
                .tokenRejected: "expired, → fail",
                .olderTokenRejected: "expired, → fail",
                .othersTokenRejected: "expired, → fail",
                .loggedOut: "signed out, remove tokens, publish signed out",
                .announced: "expired (connection: unknown)",
                .announcedOther: "expired (connection: older)",
                .preparing: "expired, → done",
                .preparingAtRefresh: "expired, → done",
                .accompanying: "expired, → rest",
                .accompanyingAtRefresh: "expired, → rest",
            ]
        }
    }
}
