import FeathersCore

/// The rules of a sign-in's life, without input or output: what happens goes in as events in the past tense, what has to be done comes
/// out as actions.
///
/// Work that several tasks may wait for, a sign-in or a refresh, has a number. An answer that belongs to another number than the current
/// one comes too late and changes nothing.
struct AuthenticationSession: Sendable, Equatable {
    enum Phase: Sendable, Equatable {
        case signedOut(StoredToken)
        case authenticating(Attempt)
        case signedIn(SignedIn)
        case expired
    }

    /// What is known about the storage while nobody is signed in.
    enum StoredToken: Sendable, Equatable {
        /// Nobody has looked, or what is there failed for a reason that may pass.
        case untried
        case none
    }

    /// A sign-in under way.
    struct Attempt: Sendable, Equatable {
        enum Kind: Sendable, Equatable {
            /// With credentials the app has given.
            case signIn
            /// With the stored token.
            case restore
        }

        var id: Int
        var kind: Kind
    }

    struct SignedIn: Sendable, Equatable {
        var token: IssuedToken
        /// Grows with each token, so that a call knows whether the one it went out with has been replaced.
        var version: Int
        var renewal: Renewal?
        /// Nothing is tried again by itself before, after a failure that may pass.
        var retryMoment: Duration?
    }

    /// A token on its way to being replaced, or to the connection.
    struct Renewal: Sendable, Equatable {
        enum Stage: Sendable, Equatable {
            /// Another token is being got.
            case fetching
            /// The token is being told to the connection that stands.
            case announcing
        }

        var id: Int
        var stage: Stage
        /// Whether calls had better wait, since the server does not take the present token any more.
        var isUrgent: Bool
        /// Whether the token to announce has just been got.
        var isFresh = false
    }

    /// What has to be done outside.
    enum Action: Sendable, Equatable {
        /// The shared work with this number begins.
        case open(Int)
        /// The shared work with this number is over.
        case settle(Int, Outcome)
        /// The stored tokens are to be removed.
        case removeTokens
        /// The state the app sees has changed.
        case publish(AuthenticationState)
    }

    /// How shared work ended.
    enum Outcome: Sendable, Equatable {
        case signedIn(AuthenticationResult)
        /// The storage had no token.
        case nothingStored
        /// It failed; whoever did it knows why.
        case failed
        /// A refresh failed for a reason that may pass; the present token serves on.
        case postponed
        /// A later sign-in took its place.
        case superseded
        case loggedOut
    }

    /// Whether the transport keeps a connection, whose server remembers who signed in over it.
    let keepsConnection: Bool
    var phase = Phase.signedOut(.untried)
    var connection = Connection()
    private var lastID = 0

    init(keepsConnection: Bool) {
        self.keepsConnection = keepsConnection
    }

    mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }

    /// The state the app sees.
    var state: AuthenticationState {
        switch phase {
        case .signedOut: .signedOut
        case .authenticating: .authenticating
        case .signedIn(let signedIn): .signedIn(signedIn.token.result)
        case .expired: .expired
        }
    }

    var signedIn: SignedIn? {
        if case .signedIn(let signedIn) = phase { signedIn } else { nil }
    }
}

extension AuthenticationSession {
    /// What the session knows of the transport's connection.
    struct Connection: Sendable, Equatable {
        enum Stage: Sendable, Equatable {
            case none
            /// The server has accepted it; calls do not use it yet.
            case preparing
            case standing
        }

        var stage = Stage.none
        /// The token the server knows the connection by; nil where it knows none.
        var token: String?
        /// Whether telling it the token has failed, for a reason that may pass.
        var hasFailed = false
        /// When the token ends that it was last known by, connection or not; the server ends the connection then.
        var tokenEnd: End?
    }

    enum End: Sendable, Equatable {
        case at(Duration)
        case unknown
    }
}
