public import FeathersCore
public import FeathersSupport

/// The credentials of a user or a service: a strategy and the fields it requires.
///
/// Printing, reflecting and dumping credentials show only the strategy.
public struct AuthenticationCredentials: Sendable, Equatable, SecretHiding {
    /// The name of the server's strategy; nil if the server chooses one.
    public let strategy: String?
    /// The data to send to the server.
    let data: JSONObject

    /// Creates credentials for any strategy, with the fields it requires. If the strategy is nil, the server chooses
    /// one.
    public init(strategy: String?, fields: JSONObject) {
        var data = JSONObject()
        if let strategy { data["strategy"] = .string(strategy) }
        for (name, value) in fields where name != "strategy" || strategy == nil { data[name] = value }
        (self.strategy, self.data) = (strategy, data)
    }

    public var description: String { "AuthenticationCredentials(strategy: \(strategy ?? "none"))" }
}

extension AuthenticationCredentials {
    /// Returns credentials with an email address and a password, for FeathersJS' strategy `local`.
    public static func local(email: String, password: String) -> Self {
        local(username: email, password: password, usernameField: "email")
    }

    /// Returns credentials with a user name and a password, for a strategy like `local` with custom field names.
    public static func local(
        username: String, password: String, usernameField: String = "username", passwordField: String = "password",
        strategy: String = "local"
    ) -> Self {
        Self(strategy: strategy, fields: [usernameField: .string(username), passwordField: .string(password)])
    }

    /// Returns credentials with an existing access token.
    public static func jwt(_ accessToken: String, strategy: String = "jwt") -> Self {
        Self(strategy: strategy, fields: ["accessToken": .string(accessToken)])
    }

    /// Returns credentials with another provider's access token, obtained with that provider's SDK: `.oauth(strategy:
    /// "google", accessToken: token)`.
    ///
    /// The token is sent as `access_token`, the name that FeathersJS' OAuth strategies read.
    public static func oauth(strategy: String, accessToken: String) -> Self {
        Self(strategy: strategy, fields: ["access_token": .string(accessToken)])
    }
}
