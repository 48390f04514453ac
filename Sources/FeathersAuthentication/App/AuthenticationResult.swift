public import FeathersCore
public import FeathersSupport

/// What the server answered to a sign-in: who the user is, and the token that proves it.
///
/// Printing, reflecting and dumping it never show tokens, or what the server told about the user.
public struct AuthenticationResult: Sendable, Equatable, SecretHiding {
    // One reference, so that calls carry a result along without copying it.
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

    /// Reads the answer of an authentication service.
    /// - Throws: ``FeathersError`` if it has no `accessToken`, or one that no header may carry. The error never shows the answer.
    init(_ value: JSONValue) throws(FeathersError) {
        guard let accessToken = value["accessToken"]?.string, !accessToken.isEmpty else {
            throw FeathersError(.generalError, "The answer of the authentication service has no 'accessToken'")
        }
        try AccessToken.check(accessToken, .generalError)
        let refreshToken = value["refreshToken"]?.string
        contents = Contents(value: value, accessToken: accessToken, refreshToken: refreshToken?.isEmpty == true ? nil : refreshToken)
    }

    /// The token that authenticates calls.
    public var accessToken: String { contents.accessToken }

    /// The token to exchange for a new access token, if the server issues one (`refreshToken`).
    public var refreshToken: String? { contents.refreshToken }

    /// What the access token says of itself, unverified; nil if it is not a JSON Web Token.
    public var payload: UnverifiedPayload? { contents.payload }

    /// The user, if the server tells.
    public var user: JSONValue? { contents.value["user"] }

    /// The whole answer as it came, its tokens included.
    public var value: JSONValue { contents.value }

    /// The user as a model of yours; with `app.coding`, in the app's way.
    /// - Throws: ``FeathersError/Code/notFound`` if the server told of no user, `DecodingError` if the user does not fit the model.
    public func user<Model: Decodable>(as type: Model.Type = Model.self, coding: any JSONCodec = CodingOptions()) throws -> Model {
        guard let user, !user.isNull else { throw FeathersError(.notFound, "The authentication service told of no user") }
        return try coding.decode(type, from: user)
    }

    public var description: String {
        "AuthenticationResult(\(payload.map { "payload: \($0)" } ?? "no payload"), \(user == nil ? "no user" : "user"))"
    }
}

extension AuthenticationResult {
    /// A result with tokens, and otherwise what `value` says, as after a refresh that brings nothing else.
    init(_ tokens: AuthenticationTokens, replacingThoseOf value: JSONValue = [:]) throws(FeathersError) {
        var value = value
        value["accessToken"] = .string(tokens.accessToken)
        value["refreshToken"] = tokens.refreshToken.map(JSONValue.string)
        try self.init(value)
    }

    var tokens: AuthenticationTokens { AuthenticationTokens(accessToken: accessToken, refreshToken: refreshToken) }
}

/// The tokens of a sign-in. Printing and reflecting them shows whether there is a refresh token, and nothing else.
public struct AuthenticationTokens: Sendable, Hashable, SecretHiding {
    let accessToken: String
    var refreshToken: String?

    /// Creates tokens that your app or your server has issued.
    public init(accessToken: String, refreshToken: String? = nil) { (self.accessToken, self.refreshToken) = (accessToken, refreshToken) }

    public var description: String { "AuthenticationTokens(\(refreshToken == nil ? "without" : "with") a refresh token)" }
}

/// What an access token must be before it goes into a header.
enum AccessToken {
    /// The longest token accepted, in bytes.
    static let maximumLength = 64 << 10

    /// - Throws: a ``FeathersError`` with the given code, which does not show the token, if the token is longer than ``maximumLength`` or has other
    ///   characters than visible ASCII: a line break would begin another header field.
    static func check(_ token: String, _ code: FeathersError.Code) throws(FeathersError) {
        let bytes = token.utf8
        guard bytes.count <= maximumLength else {
            throw FeathersError(
                code, "The access token has \(bytes.count) bytes, and at most \(maximumLength) are accepted", execution: .answered)
        }
        guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw FeathersError(code, "The access token has characters that no header may carry", execution: .answered)
        }
    }
}
