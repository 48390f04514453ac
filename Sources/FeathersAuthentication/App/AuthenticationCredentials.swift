public import FeathersCore

/// What a user or a service proves its identity with: a strategy and the fields it asks for.
///
/// Printing it, reflecting it and dumping it show the strategy alone.
public struct AuthenticationCredentials: Sendable, Equatable {
    /// The strategy's name; nil leaves the choice to the server.
    public let strategy: String?
    /// What is sent to the server.
    let data: JSONObject

    /// Creates credentials for any strategy.
    /// - Parameters:
    ///   - strategy: the name the server knows the strategy by.
    ///   - fields: what the strategy asks for.
    public init(strategy: String?, fields: JSONObject) {
        var data = JSONObject()
        if let strategy { data["strategy"] = .string(strategy) }
        for (name, value) in fields where name != "strategy" || strategy == nil { data[name] = value }
        (self.strategy, self.data) = (strategy, data)
    }
}

extension AuthenticationCredentials {
    /// An e-mail address and a password, for FeathersJS' strategy `local`.
    public static func local(email: String, password: String) -> Self { local(username: email, password: password, usernameField: "email") }

    /// A user name and a password, for a strategy like `local` with field names of its own.
    /// - Parameters:
    ///   - username: the user's name.
    ///   - password: the user's password.
    ///   - usernameField: the strategy's `usernameField`.
    ///   - passwordField: the strategy's `passwordField`.
    ///   - strategy: the name the server knows the strategy by.
    public static func local(
        username: String, password: String, usernameField: String = "username", passwordField: String = "password",
        strategy: String = "local"
    ) -> Self { Self(strategy: strategy, fields: [usernameField: .string(username), passwordField: .string(password)]) }

    /// An access token that was issued before.
    public static func jwt(_ accessToken: String, strategy: String = "jwt") -> Self {
        Self(strategy: strategy, fields: ["accessToken": .string(accessToken)])
    }

    /// An access token of another provider, obtained with that provider's own kit: `.oauth(strategy: "google", accessToken: token)`.
    public static func oauth(strategy: String, accessToken: String) -> Self {
        Self(strategy: strategy, fields: ["accessToken": .string(accessToken)])
    }
}

extension AuthenticationCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "AuthenticationCredentials(strategy: \(strategy ?? "none"))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["strategy": strategy as Any]) }
}
