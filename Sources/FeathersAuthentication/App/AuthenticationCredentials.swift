public import FeathersCore
public import FeathersSupport

/// What a user or a service proves its identity with: a strategy and the fields it asks for.
///
/// Printing it, reflecting it and dumping it show the strategy alone.
public struct AuthenticationCredentials: Sendable, Equatable, SecretHiding {
    private let strategy: String?
    /// What is sent to the server.
    let data: JSONObject

    /// Creates credentials for any strategy, with the fields it asks for; nil leaves the choice of the strategy to the server.
    public init(strategy: String?, fields: JSONObject) {
        var data = JSONObject()
        if let strategy { data["strategy"] = .string(strategy) }
        for (name, value) in fields where name != "strategy" || strategy == nil { data[name] = value }
        (self.strategy, self.data) = (strategy, data)
    }

    public var description: String { "AuthenticationCredentials(strategy: \(strategy ?? "none"))" }
}

extension AuthenticationCredentials {
    /// An e-mail address and a password, for FeathersJS' strategy `local`.
    public static func local(email: String, password: String) -> Self { local(username: email, password: password, usernameField: "email") }

    /// A user name and a password, for a strategy like `local` with field names of its own.
    public static func local(
        username: String, password: String, usernameField: String = "username", passwordField: String = "password",
        strategy: String = "local"
    ) -> Self { Self(strategy: strategy, fields: [usernameField: .string(username), passwordField: .string(password)]) }

    /// An access token that was issued before.
    public static func jwt(_ accessToken: String, strategy: String = "jwt") -> Self {
        Self(strategy: strategy, fields: ["accessToken": .string(accessToken)])
    }

    /// An access token of another provider, obtained with that provider's own kit: `.oauth(strategy: "google", accessToken: token)`.
    ///
    /// It is sent as `access_token`, the name that FeathersJS' OAuth strategies read.
    public static func oauth(strategy: String, accessToken: String) -> Self {
        Self(strategy: strategy, fields: ["access_token": .string(accessToken)])
    }
}
