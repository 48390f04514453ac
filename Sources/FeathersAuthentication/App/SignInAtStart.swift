public import FeathersCore
import FeathersSupport

extension FeathersApp {
    /// Signs in with the stored token, or with credentials if none is stored or the server refuses it. Waits if the
    /// server is not reachable yet.
    ///
    /// Use this for a worker with its own account, which may start before its server:
    ///
    /// ```swift
    /// try await withFeathersApp(app) { app in
    ///     try await app.reauthenticate(or: account)
    ///     try await work(app)
    /// }
    /// ```
    /// While the server is unavailable or busy, the sign-in is retried: first after half a second, later after up to 30
    /// seconds, or after a longer delay if the server requests one. The delays include random jitter. Each failure is
    /// reported to the app's diagnostics. Other calls made during a delay are sent without a sign-in. To stop waiting,
    /// cancel the task or shut the app down.
    ///
    /// With a real-time transport, call this method while the app runs, as above or in `use(backgroundWork:)`. Do not
    /// call it in the app's setup, which runs before the app connects.
    /// - Returns: The result of the sign-in.
    /// - Throws: The server's ``FeathersError`` if it refuses the credentials, and any other error that does not say
    ///   that the server is unavailable or busy; the last error if the app shuts down; `CancellationError` if
    ///   cancelled.
    @discardableResult
    public func reauthenticate(or credentials: AuthenticationCredentials) async throws -> AuthenticationResult {
        let clock = try requiredAuthenticator().timebase
        var failures = 0
        while true {
            do {
                return try await reauthenticateOnce(or: credentials)
            } catch let error as FeathersError where error.saysServerIsUnwell || error.code == .tooManyRequests {
                let delay = Duration.backoff(
                    after: failures, from: .milliseconds(500), atMost: .seconds(30), multiplier: 2, jitter: 0.5,
                    random: .random(in: 0...1))
                failures += 1
                diagnostics.log(
                    .warning, .authentication, "The app could not sign in yet and will try again: \(error)",
                    error: error)
                let pause = max(delay, error.retryAfter ?? .zero)
                try await racing {
                    try await clock.sleep(for: pause)
                } against: {
                    try await self.shutDownBegan()
                    return .failure(error)
                }
            }
        }
    }

    private func reauthenticateOnce(or credentials: AuthenticationCredentials) async throws -> AuthenticationResult {
        do {
            return try await reauthenticate()
        } catch  where error.isRejection || (error as? FeathersError)?.code == .notAuthenticated {
            return try await authenticate(credentials)
        }
    }
}
