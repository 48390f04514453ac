import FeathersCore
import FeathersSupport

/// Keeps tokens for as long as it lives, and no longer.
public final class InMemoryTokenStorage: TokenStorage, CustomReflectable {
    private let tokens: Locked<[String: String]>

    /// A storage that is lost with the process.
    /// - Parameter tokens: tokens by their keys, to begin with.
    public init(_ tokens: [String: String] = [:]) {
        self.tokens = Locked(tokens)
    }

    public func token(for key: String) async throws -> String? {
        tokens.withLock { $0[key] }
    }

    public func store(_ token: String, for key: String) async throws {
        tokens.withLock { $0[key] = token }
    }

    public func remove(for key: String) async throws {
        tokens.withLock { $0[key] = nil }
    }

    /// Shows the number of tokens, and none of them.
    public var customMirror: Mirror { Mirror(self, children: ["count": tokens.withLock { $0.count }]) }
}
