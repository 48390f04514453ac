public import FeathersCore

/// How an app gets a new access token before or after the current one expires.
public struct TokenRefresh: Sendable {
    /// The result of a refresh function.
    public enum Outcome: Sendable {
        /// New tokens. If they contain no refresh token, the current one is kept.
        case tokens(AuthenticationTokens)
        /// Credentials for another sign-in, as for a service account.
        case credentials(AuthenticationCredentials)
    }

    enum Kind: Sendable {
        case none
        case function(@Sendable (AuthenticationResult) async throws -> Outcome)
        case service(path: String, field: String, fields: JSONObject)
    }

    let kind: Kind

    /// No refresh: when the token expires, the sign-in ends.
    public static let none = TokenRefresh(kind: .none)

    /// Returns a refresh that calls your function with the current sign-in, one call at a time. A call fails after 30
    /// seconds.
    ///
    /// If there will never be another token, throw a ``FeathersError`` with a code from 401 to 407: the sign-in ends.
    /// After any other error, the current token is kept, and the function is called again later. It may call services
    /// of the same app: those calls do not wait for the sign-in.
    public static func function(_ refresh: @escaping @Sendable (AuthenticationResult) async throws -> Outcome)
        -> TokenRefresh
    {
        TokenRefresh(kind: .function(refresh))
    }

    /// Returns a refresh that posts the refresh token to a service. The response must contain an `accessToken`, and a
    /// new `refreshToken` if the server also replaces refresh tokens.
    ///
    /// A sign-in without a refresh token cannot be refreshed.
    /// - Parameters:
    ///   - path: The service's path. Calls to this service never wait for a sign-in.
    ///   - field: The name of the property for the refresh token.
    ///   - fields: Other properties to send.
    public static func service(_ path: String, field: String = "refreshToken", fields: JSONObject = [:]) -> TokenRefresh
    {
        TokenRefresh(kind: .service(path: FeathersApp.stripSlashes(path), field: field, fields: fields))
    }

    /// Whether any sign-in can be refreshed.
    var isPossible: Bool { if case .none = kind { false } else { true } }

    /// Returns whether the sign-in with these tokens can be refreshed.
    func canRefresh(_ tokens: AuthenticationTokens) -> Bool {
        switch kind {
        case .none: false
        case .function: true
        case .service: tokens.refreshToken != nil
        }
    }
}
