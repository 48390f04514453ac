public import FeathersCore

/// How an app gets another access token before, or after, the present one ends.
public struct TokenRefresh: Sendable {
    /// What a refresh function returns.
    public enum Answer: Sendable {
        /// New tokens. If they come without a refresh token, the current one is kept.
        case tokens(AuthenticationTokens)
        /// Credentials to sign in with again, as a service account does.
        case credentials(AuthenticationCredentials)
    }

    enum Kind: Sendable {
        case none
        case function(@Sendable (AuthenticationResult) async throws -> Answer)
        case service(path: String, field: String, fields: JSONObject)
    }

    let kind: Kind

    /// No refresh: when the token ends, so does the sign-in.
    public static let none = TokenRefresh(kind: .none)

    /// Calls your function with the current sign-in, one call at a time. After 30 seconds it is cancelled and counts as failed.
    ///
    /// Throw a ``FeathersError`` with a code from 401 to 407 if there is no other token and never will be: the sign-in ends. After any other
    /// error the current token is kept, and the function is called again later. It may call services of the same app: they do not wait for the sign-in.
    public static func function(_ refresh: @escaping @Sendable (AuthenticationResult) async throws -> Answer) -> TokenRefresh {
        TokenRefresh(kind: .function(refresh))
    }

    /// Posts the refresh token to a service, which answers with an `accessToken` and, if the server exchanges refresh tokens too,
    /// another `refreshToken`.
    ///
    /// A sign-in that brings no refresh token cannot be refreshed.
    /// - Parameters:
    ///   - path: the service's path. Its calls never wait for a sign-in.
    ///   - field: the property the refresh token is sent as.
    ///   - fields: other properties to send.
    public static func service(_ path: String, field: String = "refreshToken", fields: JSONObject = [:]) -> TokenRefresh {
        TokenRefresh(kind: .service(path: FeathersApp.stripSlashes(path), field: field, fields: fields))
    }

    /// Whether there is a way to refresh a sign-in.
    func canRefresh(_ tokens: AuthenticationTokens) -> Bool {
        switch kind {
        case .none: false
        case .function: true
        case .service: tokens.refreshToken != nil
        }
    }
}
