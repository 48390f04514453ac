import FeathersCore
import FeathersSupport

/// Where tokens are kept between runs.
///
/// An app asks its storage from one task at a time, but it may not be the only user: several apps or processes may share one.
/// Throw if the tokens cannot be reached, and say why without the token.
public protocol TokenStorage: Sendable {
    /// The token stored under a key; nil if there is none.
    func token(for key: String) async throws -> String?

    /// Stores a token in place of what is there. Once it returns, the token has been stored for good.
    func store(_ token: String, for key: String) async throws

    /// Removes the token of a key; does nothing if there is none. Once it returns, the token is gone.
    func remove(for key: String) async throws
}

/// Keeps tokens in memory, until it is released.
public final class InMemoryTokenStorage: TokenStorage, CustomReflectable {
    private let tokens: Locked<[String: String]>

    /// Creates a storage with tokens by their keys.
    public init(_ tokens: [String: String] = [:]) { self.tokens = Locked(tokens) }

    public func token(for key: String) async throws -> String? { tokens.withLock { $0[key] } }
    public func store(_ token: String, for key: String) async throws { tokens.withLock { $0[key] = token } }
    public func remove(for key: String) async throws { tokens.withLock { $0[key] = nil } }

    /// Shows the number of tokens, and none of them.
    public var customMirror: Mirror { Mirror(self, children: ["count": tokens.withLock { $0.count }]) }
}

/// The stored tokens of one app. They are written one after the other, in the order in which that was decided.
final class StoredTokens: Sendable {
    private let storage: any TokenStorage
    private let key: String
    private let refreshKey: String
    private let mutex = AsyncMutex()
    /// The number of the last decision made, and of the last one carried out.
    private let decisions = Locked((made: 0, done: 0))

    init(_ storage: any TokenStorage, key: String) { (self.storage, self.key, refreshKey) = (storage, key, "\(key)-refresh") }

    /// Takes a number for what will be written; called with the lock held that orders events.
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
            // The refresh token first: if the process ends in between, the next run can go on with it.
            if let refreshToken = tokens.refreshToken {
                try await storage.store(refreshToken, for: refreshKey)
            } else {
                try await storage.remove(for: refreshKey)
            }
            try await storage.store(tokens.accessToken, for: key)
        }
    }

    /// Removes both tokens, the second one even if removing the first one fails.
    func remove(decision: Int) async throws {
        try await mutex.withLock {
            guard carriesOut(decision) else { return }
            let outcome: Result<Void, any Error>
            do { outcome = .success(try await storage.remove(for: key)) } catch { outcome = .failure(error) }
            try await storage.remove(for: refreshKey)
            try outcome.get()
        }
    }

    /// Whether nothing that was decided later has been carried out already.
    private func carriesOut(_ decision: Int) -> Bool {
        decisions.withLock { decisions in
            guard decision > decisions.done else { return false }
            decisions.done = decision
            return true
        }
    }
}
