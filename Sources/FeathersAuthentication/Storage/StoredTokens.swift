import FeathersCore
import FeathersSupport

/// The stored tokens of one app. Changes are made one at a time, in the order in which they were decided.
///
/// A token goes only to the origin that issued it, so its key contains the origin. Other processes may use the same
/// storage. So a refresh or a refusal replaces the stored tokens only if they are those that were last read or stored
/// here.
final class StoredTokens: Sendable {
    private let storage: any TokenStorage
    private let key: String
    private let issuers: @Sendable () async -> Set<Origin>?
    /// Reports errors that do not stop the app.
    private let warn: @Sendable (String, any Error) -> Void
    /// The part of the keys after the names. Set by the first access, when the app's services are registered.
    private let suffix = Locked<String?>(nil)
    private let mutex = AsyncMutex()
    /// The number of the last decision made, and of the last one carried out.
    private let decisions = Locked((made: 0, done: 0))
    /// The contents of the storage when it was last read or changed here.
    private let known = Locked<AuthenticationTokens?>(nil)

    /// - Parameters:
    ///   - issuers: Returns the servers that issue the app's tokens; nil if the app has been released.
    ///   - warn: Reports errors that do not stop the app.
    init(
        _ storage: any TokenStorage, key: String, issuers: @escaping @Sendable () async -> Set<Origin>?,
        warn: @escaping @Sendable (String, any Error) -> Void
    ) {
        (self.storage, self.key, self.issuers, self.warn) = (storage, key, issuers, warn)
    }

    /// The keys of the access token, the refresh token and the user; nil if the app was released before it had a token.
    /// Call it while the mutex is held.
    private var keys: (access: String, refresh: String, user: String)? {
        get async {
            if suffix.withLock({ $0 }) == nil, let origins = await issuers() {
                suffix.withLock { $0 = origins.map { " \($0)" }.sorted().joined() }
            }
            return suffix.withLock { $0 }.map { ("\(key)\($0)", "\(key)-refresh\($0)", "\(key)-user\($0)") }
        }
    }

    /// Reserves the number of a change. Call it while the lock that orders events is held.
    func decide() -> Int {
        decisions.withLock { decisions in
            decisions.made += 1
            return decisions.made
        }
    }

    func read() async throws -> AuthenticationTokens? {
        try await mutex.withLock { try await stored() }
    }

    /// Returns the tokens that another app or process has stored since they were last read or changed here; nil if
    /// there are none, or if they cannot be read.
    func readNewer() async -> AuthenticationTokens? {
        do {
            return try await mutex.withLock {
                let before = known.withLock { $0 }
                let now = try await stored()
                return now == before ? nil : now
            }
        } catch is CancellationError {
            return nil
        } catch {
            warn("The token storage cannot be read, so a sign-in of another app is not found", error)
            return nil
        }
    }

    /// Reads both tokens. Call it while the mutex is held.
    private func stored() async throws -> AuthenticationTokens? {
        guard let keys = await keys else { return nil }
        var tokens: AuthenticationTokens?
        if let accessToken = try await storage.token(for: keys.access) {
            tokens = AuthenticationTokens(
                accessToken: accessToken, refreshToken: try await storage.token(for: keys.refresh))
        }
        known.withLock { [tokens] in $0 = tokens }
        return tokens
    }

    /// Reads the stored record of a user; nil if there is none, or only another user's.
    func readUser(of identity: Identity) async -> JSONValue? {
        let text = try? await mutex.withLock { try await storedUser() }
        guard let user = text.flatMap({ StoredUser($0) }), user.name.isExactly(identity.name) else { return .none }
        return user.record
    }

    private func storedUser() async throws -> String? {
        guard let keys = await keys else { return nil }
        return try await storage.token(for: keys.user)
    }

    /// Stores tokens.
    /// - Parameters:
    ///   - user: The user's record; nil if there is none.
    ///   - isSignIn: Whether the user has signed in. If so, the tokens replace everything; otherwise, those of another
    ///     process, or its log-out, are kept.
    func store(_ tokens: AuthenticationTokens, of user: StoredUser?, decision: Int, isSignIn: Bool) async throws {
        try await mutex.withLock {
            guard carriesOut(decision), let keys = await keys else { return }
            // Stores the refresh token first: if the process ends in between, the next run can use it.
            if isSignIn {
                if let refreshToken = tokens.refreshToken {
                    try await storage.store(refreshToken, for: keys.refresh)
                } else {
                    try await storage.remove(for: keys.refresh)
                }
                try await storage.store(tokens.accessToken, for: keys.access)
            } else {
                let before = known.withLock { $0 }
                guard try await storage.replace(before?.refreshToken, with: tokens.refreshToken, for: keys.refresh),
                    try await storage.replace(before?.accessToken, with: tokens.accessToken, for: keys.access)
                else { return }
            }
            known.withLock { $0 = tokens }
            // Without it, the app works, but not before the server has responded.
            do { if user != nil || isSignIn { try await replaceUser(with: user, for: keys.user) } } catch {
                warn("The signed-in user cannot be stored, so the user is unknown at an offline start", error)
            }
        }
    }

    private func replaceUser(with user: StoredUser?, for key: String) async throws {
        let stored = try await storage.token(for: key)
        guard stored != user?.text else { return }
        if let text = user?.text { try await storage.store(text, for: key) } else { try await storage.remove(for: key) }
    }

    /// Removes both tokens. Removes the second one even if removing the first one fails.
    /// - Parameter isLogOut: Whether the user has logged out. If so, everything is removed; otherwise, another
    ///   process's tokens are kept.
    func remove(decision: Int, isLogOut: Bool) async throws {
        try await mutex.withLock {
            guard carriesOut(decision), let keys = await keys else { return }
            let before = known.withLock { $0 }
            guard isLogOut || before != nil else { return }
            var failure: (any Error)?
            do { try await remove(before?.accessToken, keys.access, isLogOut) } catch { failure = error }
            try await remove(before?.refreshToken, keys.refresh, isLogOut)
            // Another process may have signed in.
            if failure == nil, try await storage.token(for: keys.access) == nil {
                try await storage.remove(for: keys.user)
            }
            if let failure { throw failure }
            known.withLock { $0 = nil }
        }
    }

    private func remove(_ expected: String?, _ key: String, _ isLogOut: Bool) async throws {
        if isLogOut { return try await storage.remove(for: key) }
        if let expected { _ = try await storage.replace(expected, with: nil, for: key) }
    }

    /// Runs an attempt that refreshes while no other app or process that shares the storage runs one.
    func exclusively(_ body: @escaping @Sendable () async -> Void) async {
        let hasRun = Locked(false)
        if let keys = await mutex.withLock({ await keys }) {
            do {
                try await storage.exclusively(for: keys.refresh) {
                    hasRun.withLock { $0 = true }
                    await body()
                }
            } catch is CancellationError {
                // The attempt itself notices the cancellation.
            } catch {
                warn("The token storage cannot be locked, so another app may use the same refresh token", error)
            }
        }
        // A storage that cannot be locked does not keep the app from refreshing, but a cancelled attempt ends.
        if !hasRun.withLock({ $0 }) { await body() }
    }

    /// Returns whether no later decision has been carried out yet.
    private func carriesOut(_ decision: Int) -> Bool {
        decisions.withLock { decisions in
            guard decision > decisions.done else { return false }
            decisions.done = decision
            return true
        }
    }
}
