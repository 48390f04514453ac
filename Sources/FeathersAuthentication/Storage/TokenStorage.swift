/// Where tokens are kept between runs.
///
/// A storage is asked by one task at a time for each app, but an app may not be its only user: several apps, or processes, may share one.
/// Throw where the tokens cannot be reached, and say why without the token.
public protocol TokenStorage: Sendable {
    /// The token stored under a key; nil where there is none.
    func token(for key: String) async throws -> String?

    /// Stores a token in place of what is there. Once it returns, the token has been stored for good.
    func store(_ token: String, for key: String) async throws

    /// Removes the token of a key; does nothing where there is none. Once it returns, the token is gone.
    func remove(for key: String) async throws
}
