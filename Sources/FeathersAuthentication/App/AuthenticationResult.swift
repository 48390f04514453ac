public import FeathersCore
public import FeathersSupport

/// The server's response to a sign-in: the user, and the token that authenticates calls.
///
/// Printing, reflecting and dumping a result never show tokens or the server's data about the user.
public struct AuthenticationResult: Sendable, Equatable, SecretHiding {
    // A single reference, so that calls can carry a result without copying it.
    private let contents: Contents

    private final class Contents: Sendable, Equatable {
        let value: JSONValue
        let accessToken: String
        let refreshToken: String?
        let payload: UnverifiedPayload?

        init(value: JSONValue, accessToken: String, refreshToken: String?) {
            (self.value, self.accessToken, self.refreshToken) = (value, accessToken, refreshToken)
            payload = UnverifiedPayload(of: accessToken)
        }

        static func == (left: Contents, right: Contents) -> Bool { left === right || left.value == right.value }
    }

    /// Reads the response of an authentication service.
    /// - Throws: ``FeathersError`` if it has no `accessToken`, or one that is not valid in a header. The error never
    ///   shows the response.
    init(_ value: JSONValue) throws(FeathersError) {
        guard let accessToken = value["accessToken"]?.string, !accessToken.isEmpty else {
            throw FeathersError(.generalError, "The response of the authentication service has no 'accessToken'")
        }
        try AccessToken.check(accessToken, .generalError)
        let refreshToken = value["refreshToken"]?.string
        contents = Contents(
            value: value, accessToken: accessToken, refreshToken: refreshToken?.isEmpty == true ? nil : refreshToken)
    }

    /// The token that authenticates calls.
    public var accessToken: String { contents.accessToken }

    /// The token to exchange for a new access token, if the server issues one (`refreshToken`).
    public var refreshToken: String? { contents.refreshToken }

    /// The unverified claims of the access token; nil if it is not a JSON Web Token.
    public var payload: UnverifiedPayload? { contents.payload }

    /// The user, if the response contains one.
    public var user: JSONValue? { contents.value["user"] }

    /// The entire response, including its tokens.
    public var value: JSONValue { contents.value }

    /// Decodes the user as a model. Pass `app.coding` to decode it as the app decodes records.
    /// - Throws: ``FeathersError/Code/notFound`` if the response contains no user, `DecodingError` if the user does not
    ///   match the model.
    public func user<Model: Decodable>(as type: Model.Type = Model.self, coding: any JSONCodec = CodingOptions()) throws
        -> Model
    {
        guard let user, !user.isNull else {
            throw FeathersError(.notFound, "The response of the authentication service has no user")
        }
        return try coding.decode(type, from: user)
    }

    public var description: String {
        "AuthenticationResult(\(payload.map { "payload: \($0)" } ?? "no payload"), \(user == nil ? "no user" : "user"))"
    }
}

extension AuthenticationResult {
    /// Creates a result with new tokens and the other properties of `value`, for a refresh that returns only tokens.
    init(_ tokens: AuthenticationTokens, replacingThoseOf value: JSONValue = [:]) throws(FeathersError) {
        var value = value
        value["accessToken"] = .string(tokens.accessToken)
        value["refreshToken"] = tokens.refreshToken.map(JSONValue.string)
        try self.init(value)
    }

    var tokens: AuthenticationTokens { AuthenticationTokens(accessToken: accessToken, refreshToken: refreshToken) }
}

/// The tokens of a sign-in. Printing and reflecting them show only whether there is a refresh token.
public struct AuthenticationTokens: Sendable, Hashable, SecretHiding {
    /// The access token.
    public let accessToken: String
    /// The refresh token; nil if there is none.
    public var refreshToken: String?

    /// Creates tokens that your app or your server has issued.
    public init(accessToken: String, refreshToken: String? = nil) {
        (self.accessToken, self.refreshToken) = (accessToken, refreshToken)
    }

    public var description: String {
        "AuthenticationTokens(\(refreshToken == nil ? "without" : "with") a refresh token)"
    }
}

/// The requirements for an access token in a header.
enum AccessToken {
    /// - Throws: A ``FeathersError`` with the given code if no header can contain the token. The error does not show
    ///   the token.
    static func check(_ token: String, _ code: FeathersError.Code) throws(FeathersError) {
        guard let flaw = CallToken.flaw(in: token) else { return }
        throw FeathersError(code, "The access token \(flaw)", execution: .answered)
    }
}
