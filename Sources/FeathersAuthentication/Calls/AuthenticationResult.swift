public import FeathersCore

/// What the server answered to a sign-in: who the user is, and the token that proves it.
///
/// Printing it, reflecting it and dumping it never show tokens, nor what the server told about the user.
public struct AuthenticationResult: Sendable, Equatable {
    // One reference, so that a call carries a result along without copying anything.
    private let contents: Contents

    private final class Contents: Sendable {
        let value: JSONValue
        let accessToken: String
        let refreshToken: String?
        let payload: UnverifiedPayload?

        init(value: JSONValue, accessToken: String, refreshToken: String?) {
            (self.value, self.accessToken, self.refreshToken) = (value, accessToken, refreshToken)
            payload = UnverifiedPayload(of: accessToken)
        }
    }

    /// Reads the answer of an authentication service.
    /// - Throws: ``FeathersError`` where it has no `accessToken`, or one that no header may carry. It never shows the answer.
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

    /// The token that is exchanged for a new access token, where the server issues one (`refreshToken`).
    public var refreshToken: String? { contents.refreshToken }

    /// What the access token says of itself, which nobody has verified; nil where it is no JSON Web Token.
    public var payload: UnverifiedPayload? { contents.payload }

    /// The user, as far as the server tells; nil where it does not.
    public var user: JSONValue? { contents.value["user"] }

    /// The whole answer as it came, its tokens included.
    public var value: JSONValue { contents.value }

    /// The user as a model of yours.
    /// - Parameters:
    ///   - type: the model.
    ///   - coding: how the user becomes a model; `app.coding` for the app's way.
    /// - Throws: ``FeathersError/Code/notFound`` where the server told of none, `DecodingError` where it does not fit the model.
    public func user<Model: Decodable>(as type: Model.Type = Model.self, coding: any JSONCodec = CodingOptions()) throws -> Model {
        guard let user, !user.isNull else { throw FeathersError(.notFound, "The authentication service told of no user") }
        return try coding.decode(type, from: user)
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.contents === right.contents || left.value == right.value
    }
}

extension AuthenticationResult {
    /// The result with other tokens, as after a refresh that tells of nothing else.
    func with(_ tokens: AuthenticationTokens) throws(FeathersError) -> AuthenticationResult {
        var value = value
        value["accessToken"] = .string(tokens.accessToken)
        value["refreshToken"] = tokens.refreshToken.map(JSONValue.string)
        return try AuthenticationResult(value)
    }

    /// A result of which only the tokens are known.
    init(_ tokens: AuthenticationTokens) throws(FeathersError) {
        var value: JSONValue = ["accessToken": .string(tokens.accessToken)]
        if let refreshToken = tokens.refreshToken { value["refreshToken"] = .string(refreshToken) }
        try self.init(value)
    }

    var tokens: AuthenticationTokens { AuthenticationTokens(accessToken: accessToken, refreshToken: refreshToken) }
}

extension AuthenticationResult: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        "AuthenticationResult(\(payload.map { "payload: \($0)" } ?? "no payload"), \(user == nil ? "no user" : "user"))"
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["payload": payload as Any]) }
}
