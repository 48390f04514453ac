public import FeathersCore
import FeathersSupport

/// Where an app keeps what signs it in.
private enum InstalledAuthenticator: AppSetting { typealias Value = Authenticator }

extension FeathersApp {
    /// Lets the app sign in: every call from now on waits for a pending sign-in and is made as who is signed in.
    ///
    /// ```swift
    /// try app.use(authentication: AuthenticationOptions(storage: KeychainTokenStorage()))
    /// ```
    /// Nothing is sent yet. A stored token is tried by the first call, or by the connection as soon as it stands.
    /// - Throws: ``FeathersError/Code/badRequest`` naming an option that can not be used, ``FeathersError/Code/conflict`` where the app has
    ///   been given authentication before.
    public func use(authentication options: AuthenticationOptions) throws {
        let realTime = transport as? any RealTimeTransport
        let authenticator = Authenticator(try options.validated(), keepsConnection: realTime != nil)
        guard self[InstalledAuthenticator.self] == nil else {
            throw FeathersError(.conflict, "The app has authentication already", execution: .neverSent)
        }
        self[InstalledAuthenticator.self] = authenticator
        self[SignIns.self] = { onSignIn in
            for await state in authenticator.updates.updates() where state.result != nil { onSignIn() }
        }
        addHooks(Hooks(around: [{ context, next in try await authenticator.around(&context, next) }]))
        addBackgroundWork { app in await authenticator.runSharedWork(in: app) }
        realTime?.addConnectionSetup(authenticator.connectionSetup)
    }

    /// Signs in.
    ///
    /// Calls made meanwhile wait for it and fail with it. A later sign-in, and a log-out, win over this one whatever comes back first.
    /// - Returns: what the server answered; its tokens are stored.
    /// - Throws: the server's ``FeathersError``: after a code from 401 to 407 nobody is signed in and the stored tokens are removed, after any other
    ///   failure they are kept and tried again by the next call. ``FeathersError/Code/conflict`` where another sign-in took this one's place,
    ///   ``FeathersError/Code/notAuthenticated`` where a log-out did. What the storage throws. `CancellationError` when cancelled.
    @discardableResult
    public func authenticate(_ credentials: AuthenticationCredentials) async throws -> AuthenticationResult {
        try await authenticator().signIn(credentials, self)
    }

    /// Signs in with the stored token, where nobody is signed in yet.
    /// - Parameter force: whether the server is asked also where somebody is.
    /// - Throws: as ``authenticate(_:)`` does; ``FeathersError/Code/notAuthenticated`` where no token is stored.
    @discardableResult
    public func reauthenticate(force: Bool = false) async throws -> AuthenticationResult {
        try await authenticator().restore(force: force, self)
    }

    /// Signs out: removes the tokens, then tells the server.
    ///
    /// Where this returns or throws, nobody is signed in. Signed out already, it still tells the server, as FeathersJS does.
    /// - Throws: what the storage throws where it can not remove a token; else why the server could not be told.
    public func logOut() async throws {
        try await authenticator().logOut(self)
    }

    /// Whether the app is signed in right now.
    public var authentication: AuthenticationState {
        self[InstalledAuthenticator.self]?.current ?? .signedOut
    }

    /// Whether the app is signed in, and then every change of it.
    public func authenticationUpdates() -> AsyncStream<AuthenticationState> {
        if let authenticator = self[InstalledAuthenticator.self] { return authenticator.updates.updates() }
        return AsyncStream { continuation in
            continuation.yield(.signedOut)
            continuation.finish()
        }
    }

    private func authenticator() throws(FeathersError) -> Authenticator {
        if let authenticator = self[InstalledAuthenticator.self] { return authenticator }
        throw FeathersError(
            .notImplemented, "The app has no authentication: give it some with use(authentication:)", execution: .neverSent)
    }
}
