import FeathersCore
import FeathersSupport

/// A place where tokens are stored between runs.
///
/// An app uses its storage from one task at a time, but several apps or processes may share one storage. If the tokens
/// cannot be accessed, throw an error that states the reason without the token.
public protocol TokenStorage: Sendable {
    /// Returns the token stored under a key; nil if there is none.
    func token(for key: String) async throws -> String?

    /// Stores a token, replacing the current one. When this method returns, the token must be stored durably.
    func store(_ token: String, for key: String) async throws

    /// Removes the token of a key, or does nothing if there is none. When this method returns, the token must be
    /// removed durably.
    func remove(for key: String) async throws

    /// Replaces or removes the token of a key if it is still the expected one, in one step.
    ///
    /// The default implementation reads, compares and stores. If another process stores a token in between, that token
    /// is lost.
    /// - Parameters:
    ///   - expected: The token that was read; nil if there was none.
    ///   - token: The new token; nil to remove it.
    ///   - key: The key of the token.
    /// - Returns: Whether the token was the expected one.
    func replace(_ expected: String?, with token: String?, for key: String) async throws -> Bool

    /// Runs `body` while no other app or process that shares the storage does the same for this key.
    ///
    /// Apps refresh a sign-in within it, so that none of them uses a refresh token that another one has just used. The
    /// default implementation only runs `body`. A server that replaces refresh tokens then refuses the slower of two
    /// apps that refresh at the same time, and that app signs in with what the faster one has stored.
    /// - Parameters:
    ///   - key: The key of the token that `body` may replace.
    ///   - body: The work to run.
    func exclusively(for key: String, _ body: @Sendable () async -> Void) async throws
}

extension TokenStorage {
    public func replace(_ expected: String?, with token: String?, for key: String) async throws -> Bool {
        guard try await self.token(for: key) == expected else { return false }
        if let token { try await store(token, for: key) } else { try await remove(for: key) }
        return true
    }

    public func exclusively(for key: String, _ body: @Sendable () async -> Void) async throws { await body() }
}

/// A storage that keeps tokens in memory until it is released.
public final class InMemoryTokenStorage: TokenStorage, CustomReflectable {
    private let tokens: Locked<[String: String]>
    private let turns = AsyncMutex()

    /// Creates a storage that contains the given tokens by key.
    public init(_ tokens: [String: String] = [:]) { self.tokens = Locked(tokens) }

    public func token(for key: String) async throws -> String? { tokens.withLock { $0[key] } }
    public func store(_ token: String, for key: String) async throws { tokens.withLock { $0[key] = token } }
    public func remove(for key: String) async throws { tokens.withLock { $0[key] = nil } }

    public func replace(_ expected: String?, with token: String?, for key: String) async throws -> Bool {
        tokens.withLock { tokens in
            guard tokens[key] == expected else { return false }
            tokens[key] = token
            return true
        }
    }

    public func exclusively(for key: String, _ body: @Sendable () async -> Void) async throws {
        await turns.withLock { await body() }
    }

    /// Shows only the number of tokens.
    public var customMirror: Mirror { Mirror(self, children: ["count": tokens.withLock { $0.count }]) }
}
