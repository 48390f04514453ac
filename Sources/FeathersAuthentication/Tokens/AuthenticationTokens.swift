/// The tokens of a sign-in. Printing and reflecting them shows whether there is a refresh token, and nothing else.
public struct AuthenticationTokens: Sendable, Hashable {
    /// The token that authenticates calls.
    public var accessToken: String
    /// The token that is exchanged for new ones; nil where there is none.
    public var refreshToken: String?

    /// Tokens; the parameters are the properties of the same names.
    public init(accessToken: String, refreshToken: String? = nil) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
    }
}

extension AuthenticationTokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "AuthenticationTokens(\(refreshToken == nil ? "without" : "with") a refresh token)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
