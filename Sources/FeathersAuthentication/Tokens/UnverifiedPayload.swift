public import FeathersCore
public import FeathersSupport
public import Foundation

/// What a JSON Web Token says of itself.
///
/// It is not verified: that takes the server's key. Use it to show and to plan, never to decide what a user may do.
public struct UnverifiedPayload: Sendable, Equatable, SecretHiding {
    /// The algorithm the token claims to be signed with (`alg`); nil if it names none.
    package let algorithm: String?
    /// Whether the token is not even signed: it has no signature, or names `none` as its algorithm.
    public let isUnsigned: Bool
    /// Everything the payload says.
    public let claims: JSONObject

    /// Whom the token is about (`sub`), most often the user's id.
    public var subject: String? { claims["sub"].flatMap { $0.string ?? $0.integer.map(String.init) } }

    /// When the token was issued (`iat`), by the server's clock.
    package var issuedAt: Date? { Self.date(claims["iat"]) }

    /// When the token stops being valid (`exp`), by the server's clock.
    public var expiresAt: Date? { Self.date(claims["exp"]) }

    private static func date(_ claim: JSONValue?) -> Date? {
        // Nothing can be planned beyond the year 9999, and arithmetic is safe before.
        guard let seconds = claim?.number, seconds.isFinite, abs(seconds) < 253_402_300_800 else { return nil }
        return Date(timeIntervalSince1970: seconds)
    }

    public var description: String {
        let signature = isUnsigned ? "unsigned" : "alg: \(algorithm ?? "unknown")"
        return "UnverifiedPayload(\(signature), expiresAt: \(expiresAt.map { "\($0)" } ?? "unknown"))"
    }
}

extension UnverifiedPayload {
    /// Reads a token leniently; nil if it is no JSON Web Token.
    init?(of token: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, token.utf8.count <= AccessToken.maximumLength, let claims = Self.object(parts[1]) else { return nil }
        self.claims = claims
        algorithm = Self.object(parts[0])?["alg"]?.string
        isUnsigned = parts[2].isEmpty || algorithm?.lowercased() == "none"
    }

    /// Reads a part: Base64 in the alphabet for URLs, without padding, which is tolerated.
    private static func object(_ part: Substring) -> JSONObject? {
        var text = String(part.replacing("-", with: "+").replacing("_", with: "/"))
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let bytes = Data(base64Encoded: text) else { return nil }
        // No token in use is nested deeper.
        return try? JSONValue(parsing: Array(bytes), maximumDepth: 64).object
    }
}
