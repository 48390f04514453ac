import FeathersCore
import FeathersSupport

/// A place where tokens are stored between runs.
///
/// An app uses its storage from one task at a time, but several apps or processes may share one storage. If the tokens cannot be accessed, throw an
/// error that states the reason without the token.
public protocol TokenStorage: Sendable {
    /// Returns the token stored under a key; nil if there is none.
    func token(for key: String) async throws -> String?

    /// Stores a token, replacing the current one. When this method returns, the token must be stored durably.
    func store(_ token: String, for key: String) async throws

    /// Removes the token of a key, or does nothing if there is none. When this method returns, the token must be removed durably.
    func remove(for key: String) async throws
}

/// A storage that keeps tokens in memory until it is released.
public final class InMemoryTokenStorage: TokenStorage, CustomReflectable {
    private let tokens: Locked<[String: String]>

    /// Creates a storage that contains the given tokens by key.
    public init(_ tokens: [String: String] = [:]) { self.tokens = Locked(tokens) }

    public func token(for key: String) async throws -> String? { tokens.withLock { $0[key] } }
    public func store(_ token: String, for key: String) async throws { tokens.withLock { $0[key] = token } }
    public func remove(for key: String) async throws { tokens.withLock { $0[key] = nil } }

    /// Shows only the number of tokens.
    public var customMirror: Mirror { Mirror(self, children: ["count": tokens.withLock { $0.count }]) }
}

/// The stored tokens of one app. Changes are made one at a time, in the order in which they were decided.
///
/// A token goes only to the origin that issued it, so its key contains the origin.
final class StoredTokens: Sendable {
    private let storage: any TokenStorage
    private let key: String
    private let issuers: @Sendable () async -> Set<Origin>?
    /// The part of the keys after the names. Set by the first access, when the app's services are registered.
    private let suffix = Locked<String?>(nil)
    private let mutex = AsyncMutex()
    /// The number of the last decision made, and of the last one carried out.
    private let decisions = Locked((made: 0, done: 0))

    /// - Parameter issuers: Returns the servers that issue the app's tokens; nil if the app has been released.
    init(_ storage: any TokenStorage, key: String, issuers: @escaping @Sendable () async -> Set<Origin>?) {
        (self.storage, self.key, self.issuers) = (storage, key, issuers)
    }

    /// The keys of the access token and of the refresh token; nil if the app was released before it had a token. Call
    /// it while the mutex is held.
    private var keys: (access: String, refresh: String)? {
        get async {
            if suffix.withLock({ $0 }) == nil, let origins = await issuers() {
                suffix.withLock { $0 = origins.map { " \($0)" }.sorted().joined() }
            }
            return suffix.withLock { $0 }.map { ("\(key)\($0)", "\(key)-refresh\($0)") }
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
        try await mutex.withLock {
            guard let keys = await keys, let accessToken = try await storage.token(for: keys.access) else { return nil }
            return AuthenticationTokens(
                accessToken: accessToken, refreshToken: try await storage.token(for: keys.refresh))
        }
    }

    func store(_ tokens: AuthenticationTokens, decision: Int) async throws {
        try await mutex.withLock {
            guard carriesOut(decision), let keys = await keys else { return }
            // Stores the refresh token first: if the process ends in between, the next run can use it.
            if let refreshToken = tokens.refreshToken {
                try await storage.store(refreshToken, for: keys.refresh)
            } else {
                try await storage.remove(for: keys.refresh)
            }
            try await storage.store(tokens.accessToken, for: keys.access)
        }
    }

    /// Removes both tokens. Removes the second one even if removing the first one fails.
    func remove(decision: Int) async throws {
        try await mutex.withLock {
            guard carriesOut(decision), let keys = await keys else { return }
            let outcome: Result<Void, any Error>
            do { outcome = .success(try await storage.remove(for: keys.access)) } catch { outcome = .failure(error) }
            try await storage.remove(for: keys.refresh)
            try outcome.get()
        }
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
