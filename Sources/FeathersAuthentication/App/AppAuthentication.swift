public import FeathersCore
import FeathersSupport

/// The key for the sign-in of a call in its params, for use in local services.
///
/// ```swift
/// func find(_ params: Params) async throws -> JSONValue {
///     let user = params[Authentication.self]?.user
///     return try await messages(of: user?["id"])
/// }
/// ```
/// The value is added after all hooks have run; a hook can read `context.app.authentication` instead. A value set by
/// the caller is preserved.
public enum Authentication: ParamsKey {
    /// The sign-in of the user who makes the call.
    public typealias Value = AuthenticationResult
}

/// The sign-in state of an app.
public enum AuthenticationState: Sendable, Equatable {
    /// No user is signed in. A token may still be stored. If so, the first call tries it.
    case signedOut
    /// A sign-in is in progress. Calls wait for it.
    case authenticating
    /// A user is signed in. After a token refresh, this state is published again with the new result.
    case signedIn(AuthenticationResult)
    /// The server has ended the sign-in, and it could not be refreshed. The tokens are removed, and calls are sent
    /// without a token.
    case expired

    /// The result of the sign-in; nil if no user is signed in.
    public var result: AuthenticationResult? {
        if case .signedIn(let result) = self { result } else { nil }
    }
}

extension FeathersApp {
    /// Installs authentication. From now on, every call waits for a sign-in in progress and is made as the signed-in
    /// user.
    ///
    /// ```swift
    /// try app.use(authentication: AuthenticationOptions(storage: KeychainTokenStorage()))
    /// ```
    /// Nothing is sent yet. A stored token is tried by the first call, or by the connection as soon as the server has
    /// accepted it.
    ///
    /// The token is sent to the app's own server, which is the one its transport connects to, and to
    /// ``AuthenticationOptions/trustedOrigins``. The authentication service receives what it needs to sign in and log
    /// out, even if it is on another server.
    ///
    /// The time spent waiting for a sign-in counts toward a call's `params.timeout`. A call belongs to the user who was
    /// signed in, or signing in, when it was made. If another user signs in before it is sent, or before a `find` or
    /// `get` gets its response, it throws ``FeathersError/Code/notAuthenticated``.
    /// - Throws: ``FeathersError/Code/badRequest`` naming an invalid option. ``FeathersError/Code/conflict`` if the app
    ///   already has authentication, or already has a connection, because each connection is prepared for the sign-in
    ///   before it is used.
    public func use(authentication options: AuthenticationOptions) throws {
        let authenticator = Authenticator(try options.validated(), app: self)
        guard self[InstalledAuthenticator.self] == nil else {
            throw FeathersError(.conflict, "The app already has authentication", execution: .neverSent)
        }
        // Over an unprepared connection, a sign-in would succeed, but no event could be attributed to its user.
        guard !hasPermanentConnection else {
            throw FeathersError(
                .conflict, "The app has a connection already: call 'use(authentication:)' before it connects",
                execution: .neverSent)
        }
        self[InstalledAuthenticator.self] = authenticator
        listServers(options.trustedServers)
        if options.requiresToken { requireToken() }
        tokenForm = TokenForm(field: options.header, scheme: options.scheme)
        use(SignInGate(authenticator: authenticator))
        resolveIdentity { [weak authenticator] in await authenticator?.storedIdentity() }
        use(backgroundWork: { app in _ = await app.resolvedIdentity() })
        (transport as? any RealTimeTransport)?.use(
            connectionSetup: authenticator.stream == nil ? authenticator.connectionSetup : authenticator.streamSetup)
    }

    /// Signs in.
    ///
    /// Calls made during a sign-in wait for it, and fail if it fails. A later sign-in or log-out wins over this one,
    /// regardless of which response arrives first.
    /// - Returns: The server's response. Its tokens are stored.
    /// - Throws: The server's ``FeathersError``. After a code from 401 to 407, no user is signed in and the stored
    ///   tokens are removed. After any other failure, the tokens are kept and the next call tries them again.
    ///   ``FeathersError/Code/conflict`` if another sign-in replaced this one, ``FeathersError/Code/notAuthenticated``
    ///   if the app logged out. The storage's error. `CancellationError` if cancelled; the sign-in itself is cancelled
    ///   once all of its callers are.
    @discardableResult
    public func authenticate(_ credentials: AuthenticationCredentials) async throws -> AuthenticationResult {
        try await requiredAuthenticator().signIn(credentials)
    }

    /// Signs in with the stored token, unless a user is signed in and `force` is false.
    /// - Throws: The errors of ``authenticate(_:)``, and ``FeathersError/Code/notAuthenticated`` if no token is stored.
    @discardableResult
    public func reauthenticate(force: Bool = false) async throws -> AuthenticationResult {
        try await requiredAuthenticator().restore(force: force)
    }

    /// Logs out: removes the tokens, then notifies the server.
    ///
    /// When this method returns or throws, no user is signed in. The server is notified even if no user was signed in,
    /// as in FeathersJS. Without a connection, a real-time transport sends nothing, because the server forgets a
    /// sign-in when its connection ends.
    ///
    /// A connection over which the user signed in ends once the server has responded, or after 5 seconds. The user's
    /// calls that have not been sent yet are never sent, and the next connection opens for the signed-out app.
    /// - Throws: The storage's error if a token cannot be removed; otherwise the reason why the server could not be
    ///   notified.
    public func logOut() async throws { try await requiredAuthenticator().logOut(self) }

    /// The current sign-in state of the app.
    public var authentication: AuthenticationState { self[InstalledAuthenticator.self]?.current ?? .signedOut }

    /// Returns a stream of the current sign-in state and every change.
    public func authenticationUpdates() -> AsyncStream<AuthenticationState> {
        if let authenticator = self[InstalledAuthenticator.self] { return authenticator.updates.updates() }
        return AsyncStream { continuation in
            continuation.yield(.signedOut)
            continuation.finish()
        }
    }

    func requiredAuthenticator() throws(FeathersError) -> Authenticator {
        if let authenticator = self[InstalledAuthenticator.self] { return authenticator }
        throw FeathersError(
            .notImplemented, "The app has no authentication: install it with 'use(authentication:)'",
            execution: .neverSent)
    }
}

private enum InstalledAuthenticator: AppSetting { typealias Value = Authenticator }
