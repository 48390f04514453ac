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
final class StoredTokens: Sendable {
    private let storage: any TokenStorage
    private let key: String
    private let refreshKey: String
    private let mutex = AsyncMutex()
    /// The number of the last decision made, and of the last one carried out.
    private let decisions = Locked((made: 0, done: 0))

    init(_ storage: any TokenStorage, key: String) { (self.storage, self.key, refreshKey) = (storage, key, "\(key)-refresh") }

    /// Reserves the number of a change. Call it while the lock that orders events is held.
    func decide() -> Int {
        decisions.withLock { decisions in
            decisions.made += 1
            return decisions.made
        }
    }

    func read() async throws -> AuthenticationTokens? {
        try await mutex.withLock {
            guard let accessToken = try await storage.token(for: key) else { return nil }
            return AuthenticationTokens(accessToken: accessToken, refreshToken: try await storage.token(for: refreshKey))
        }
    }

    func store(_ tokens: AuthenticationTokens, decision: Int) async throws {
        try await mutex.withLock {
            guard carriesOut(decision) else { return }
            // Stores the refresh token first: if the process ends in between, the next run can use it.
            if let refreshToken = tokens.refreshToken {
                try await storage.store(refreshToken, for: refreshKey)
            } else {
                try await storage.remove(for: refreshKey)
            }
            try await storage.store(tokens.accessToken, for: key)
        }
    }

    /// Removes both tokens. Removes the second one even if removing the first one fails.
    func remove(decision: Int) async throws {
        try await mutex.withLock {
            guard carriesOut(decision) else { return }
            let outcome: Result<Void, any Error>
            do { outcome = .success(try await storage.remove(for: key)) } catch { outcome = .failure(error) }
            try await storage.remove(for: refreshKey)
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
