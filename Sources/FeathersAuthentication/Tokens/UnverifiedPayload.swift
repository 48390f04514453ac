public import FeathersCore
public import FeathersSupport
public import Foundation

/// The claims of a JSON Web Token.
///
/// The claims are not verified, because that requires the server's key. Use them for display and planning, never to
/// decide what a user may do.
public struct UnverifiedPayload: Sendable, Equatable, SecretHiding {
    /// The algorithm that the token claims to be signed with (`alg`); nil if it names none.
    public let algorithm: String?
    /// Whether the token is unsigned: it has no signature, or its algorithm is `none`.
    public let isUnsigned: Bool
    /// All claims of the payload.
    public let claims: JSONObject

    /// The subject of the token (`sub`), usually the user's id.
    public var subject: String? { claims["sub"].flatMap { $0.string ?? $0.integer.map(String.init) } }

    /// When the token was issued (`iat`), by the server's clock.
    public var issuedAt: Date? { Self.date(claims["iat"]) }

    /// When the token stops being valid (`exp`), by the server's clock.
    public var expiresAt: Date? { Self.date(claims["exp"]) }

    private static func date(_ claim: JSONValue?) -> Date? {
        // Dates after the year 9999 are useless for planning. Up to then, date arithmetic is safe.
        guard let seconds = claim?.number, seconds.isFinite, abs(seconds) < 253_402_300_800 else { return nil }
        return Date(timeIntervalSince1970: seconds)
    }

    public var description: String {
        let signature = isUnsigned ? "unsigned" : "alg: \(algorithm ?? "unknown")"
        return "UnverifiedPayload(\(signature), expiresAt: \(expiresAt.map { "\($0)" } ?? "unknown"))"
    }
}

extension UnverifiedPayload {
    /// Parses a token leniently; nil if it is not a JSON Web Token.
    init?(of token: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, token.utf8.count <= CallToken.maximumLength, let claims = Self.object(parts[1]) else {
            return nil
        }
        self.claims = claims
        algorithm = Self.object(parts[0])?["alg"]?.string
        isUnsigned = parts[2].isEmpty || algorithm?.lowercased() == "none"
    }

    /// Decodes a part from URL-safe Base64. Padding is optional.
    private static func object(_ part: Substring) -> JSONObject? {
        var text = String(part.replacing("-", with: "+").replacing("_", with: "/"))
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let bytes = Data(base64Encoded: text) else { return nil }
        // Real tokens are not nested deeper.
        return try? JSONValue(parsing: Array(bytes), maximumDepth: 64).object
    }
}
