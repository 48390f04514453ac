public import FeathersCore
import FeathersSupport

/// The key under which calls carry the sign-in they are made with, for local services.
///
/// ```swift
/// func find(_ params: Params) async throws -> JSONValue {
///     let user = params[Authentication.self]?.user
/// ```
/// The gate that adds it stands inside all hooks; a hook asks `context.app.authentication`. A value that the caller has set stays.
public enum Authentication: ParamsKey {
    /// The sign-in of the user who makes the call.
    public typealias Value = AuthenticationResult
}

/// Whether an app is signed in.
public enum AuthenticationState: Sendable, Equatable {
    /// No user is signed in. A token may be stored all the same, which the first call tries.
    case signedOut
    /// A sign-in is in progress. Calls wait for it.
    case authenticating
    /// A user is signed in. A refreshed token shows as this state too, with the new result.
    case signedIn(AuthenticationResult)
    /// The server has ended the sign-in, and it could not be refreshed. The tokens are removed, and calls are sent without any.
    case expired

    /// The sign-in's result; nil if no user is signed in.
    public var result: AuthenticationResult? {
        if case .signedIn(let result) = self { result } else { nil }
    }
}

extension FeathersApp {
    /// Lets the app sign in: from now on, every call waits for a sign-in in progress and is made by the user who is signed in.
    ///
    /// ```swift
    /// try app.use(authentication: AuthenticationOptions(storage: KeychainTokenStorage()))
    /// ```
    /// Nothing is sent yet. A stored token is tried by the first call, or by the connection as soon as the server has accepted it.
    ///
    /// The token goes to the app's own server, which is where its transport leads, and to ``AuthenticationOptions/trustedOrigins``. The
    /// authentication service itself gets what signing in and out takes, wherever it is.
    ///
    /// Waiting for a sign-in counts into a call's `params.timeout`. A call belongs to the user who was signed in, or signing in, when it was made: if
    /// another user signs in before it is sent, or before a `find` or `get` is answered, it throws ``FeathersError/Code/notAuthenticated``.
    /// - Throws: ``FeathersError/Code/badRequest`` naming an option that cannot be used, ``FeathersError/Code/conflict`` if the app has
    ///   authentication already.
    public func use(authentication options: AuthenticationOptions) throws {
        let authenticator = Authenticator(try options.validated(), app: self)
        guard self[InstalledAuthenticator.self] == nil else {
            throw FeathersError(.conflict, "The app has authentication already", execution: .neverSent)
        }
        self[InstalledAuthenticator.self] = authenticator
        trust(options.trustedServers)
        use(SignInGate(authenticator: authenticator))
        resolveIdentity { [weak authenticator] in await authenticator?.storedIdentity() }
        use(backgroundWork: { app in _ = await app.resolvedIdentity() })
        (transport as? any RealTimeTransport)?.use(connectionSetup: authenticator.connectionSetup)
    }

    /// Signs in.
    ///
    /// Calls made meanwhile wait for it and fail with it. A later sign-in, or a log-out, wins over this one, whichever answer comes first.
    /// - Returns: what the server answered. Its tokens are stored.
    /// - Throws: the server's ``FeathersError``: after a code from 401 to 407 no user is signed in and the stored tokens are removed; after any other
    ///   failure they are kept, and the next call tries them again. ``FeathersError/Code/conflict`` if another sign-in took this one's place,
    ///   ``FeathersError/Code/notAuthenticated`` if a log-out did. What the storage throws. `CancellationError` when cancelled; the sign-in
    ///   itself is given up when everyone who waits for it is.
    @discardableResult
    public func authenticate(_ credentials: AuthenticationCredentials) async throws -> AuthenticationResult {
        try await authenticator().signIn(credentials)
    }

    /// Signs in with the stored token, unless a user is signed in and `force` is false.
    /// - Throws: as ``authenticate(_:)`` does; ``FeathersError/Code/notAuthenticated`` if no token is stored.
    @discardableResult
    public func reauthenticate(force: Bool = false) async throws -> AuthenticationResult { try await authenticator().restore(force: force) }

    /// Signs out: removes the tokens, then tells the server.
    ///
    /// When this returns or throws, no user is signed in. An app that is signed out already still tells the server, as FeathersJS does. Without a
    /// connection a real-time transport sends nothing, because the server forgets a sign-in with its connection.
    /// - Throws: what the storage throws if it cannot remove a token; else why the server could not be told.
    public func logOut() async throws { try await authenticator().logOut(self) }

    /// Whether the app is signed in right now.
    public var authentication: AuthenticationState { self[InstalledAuthenticator.self]?.current ?? .signedOut }

    /// Whether the app is signed in, and then every change.
    public func authenticationUpdates() -> AsyncStream<AuthenticationState> {
        if let authenticator = self[InstalledAuthenticator.self] { return authenticator.updates.updates() }
        return AsyncStream { continuation in
            continuation.yield(.signedOut)
            continuation.finish()
        }
    }

    private func authenticator() throws(FeathersError) -> Authenticator {
        if let authenticator = self[InstalledAuthenticator.self] { return authenticator }
        throw FeathersError(.notImplemented, "The app has no authentication: give it some with use(authentication:)", execution: .neverSent)
    }
}

private enum InstalledAuthenticator: AppSetting { typealias Value = Authenticator }
