import FeathersCore
import FeathersSupport

/// The stored tokens of one app. They are written one after the other, and never in another order than was decided.
final class StoredTokens: Sendable {
    private let storage: any TokenStorage
    private let key: String
    private let refreshKey: String
    private let turnstile = AsyncMutex()
    /// The number of the last decision made, and of the last one carried out.
    private let decisions = Locked((made: 0, done: 0))

    init(_ storage: any TokenStorage, key: String, refreshKey: String) {
        (self.storage, self.key, self.refreshKey) = (storage, key, refreshKey)
    }

    /// Takes a number for what will be written; called where the order of things is decided.
    func decide() -> Int {
        decisions.withLock { decisions in
            decisions.made += 1
            return decisions.made
        }
    }

    func read() async throws -> AuthenticationTokens? {
        try await turnstile.pass {
            guard let accessToken = try await storage.token(for: key) else { return nil }
            return AuthenticationTokens(accessToken: accessToken, refreshToken: try await storage.token(for: refreshKey))
        }
    }

    func store(_ tokens: AuthenticationTokens, decision: Int) async throws {
        try await turnstile.pass {
            guard carriesOut(decision) else { return }
            // The refresh token first: should this end in between, the next run can go on with it.
            if let refreshToken = tokens.refreshToken {
                try await storage.store(refreshToken, for: refreshKey)
            } else {
                try await storage.remove(for: refreshKey)
            }
            try await storage.store(tokens.accessToken, for: key)
        }
    }

    /// Removes both tokens, the second one also where the first can not be removed.
    func remove(decision: Int) async throws {
        try await turnstile.pass {
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
