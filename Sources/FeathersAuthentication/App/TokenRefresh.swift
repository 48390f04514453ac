public import FeathersCore

/// How an app gets another access token before, or after, the present one ends.
public struct TokenRefresh: Sendable {
    /// What a refresh gives.
    public enum Answer: Sendable {
        /// New tokens. Where they come without a refresh token, the present one is kept.
        case tokens(AuthenticationTokens)
        /// Credentials to sign in with anew, as a service account does.
        case credentials(AuthenticationCredentials)
    }

    enum Kind: Sendable {
        case none
        case function(@Sendable (AuthenticationResult) async throws -> Answer)
        case service(path: String, field: String, fields: JSONObject)
    }

    let kind: Kind

    /// There is no way: when the token ends, so does the sign-in.
    public static let none = TokenRefresh(kind: .none)

    /// A function of yours is asked, with the present sign-in; one call at a time.
    ///
    /// Throwing a ``FeathersError`` with a code from 401 to 407 says that there is no other token and never will be: the sign-in ends. After any other
    /// error the present token is kept, and it is tried again. A function that calls services of the same app is let through.
    public static func function(_ refresh: @escaping @Sendable (AuthenticationResult) async throws -> Answer) -> TokenRefresh {
        TokenRefresh(kind: .function(refresh))
    }

    /// The refresh token is posted to a service, whose answer has an `accessToken` and, where the server exchanges refresh tokens too,
    /// another `refreshToken`.
    ///
    /// Sign-ins that bring no refresh token can not be refreshed.
    /// - Parameters:
    ///   - path: the service's path; its calls are never held up.
    ///   - field: the property the refresh token is sent as.
    ///   - fields: what else is sent.
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
