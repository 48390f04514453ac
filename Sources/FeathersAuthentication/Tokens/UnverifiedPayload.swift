public import FeathersCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What a JSON Web Token says of itself.
///
/// Nobody has verified it: only who knows the key can. It serves to show and to plan, never to decide what somebody may do.
public struct UnverifiedPayload: Sendable, Equatable {
    /// The algorithm the token says it is signed with (`alg`); nil where it says nothing.
    public let algorithm: String?
    /// Whether the token is not even signed: it has no signature, or says `none` is its algorithm.
    public let isUnsigned: Bool
    /// Everything the payload says.
    public let claims: JSONObject

    /// What the payload says under a name.
    public subscript(claim: String) -> JSONValue? { claims[claim] }

    /// Whom the token is about (`sub`), most often the user's id.
    public var subject: String? { claims["sub"].flatMap { $0.string ?? $0.integer.map(String.init) } }

    /// When the token was issued (`iat`), by the server's clock.
    public var issuedAt: Date? { Self.date(claims["iat"]) }

    /// When the token ceases to be valid (`exp`), by the server's clock.
    public var expiresAt: Date? { Self.date(claims["exp"]) }

    private static func date(_ claim: JSONValue?) -> Date? {
        // Beyond year 9999 nothing can be planned, and arithmetic with it need not be thought about.
        guard let seconds = claim?.number, seconds.isFinite, abs(seconds) < 253_402_300_800 else { return nil }
        return Date(timeIntervalSince1970: seconds)
    }
}

extension UnverifiedPayload {
    /// Deeper payloads are nobody's.
    private static let maximumDepth = 64

    /// Reads a token leniently; nil where there is nothing to read.
    init?(of token: String) {
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, token.utf8.count <= AccessToken.maximumLength, let claims = Self.object(parts[1]) else { return nil }
        self.claims = claims
        algorithm = Self.object(parts[0])?["alg"]?.string
        isUnsigned = parts[2].isEmpty || algorithm?.lowercased() == "none"
    }

    private static func object(_ part: Substring.UTF8View) -> JSONObject? {
        guard let bytes = Base64URL.decode(part) else { return nil }
        return try? JSONValue(parsing: bytes, maximumDepth: maximumDepth).object
    }
}

extension UnverifiedPayload: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        let signature = isUnsigned ? "unsigned" : "alg: \(algorithm ?? "unknown")"
        return "UnverifiedPayload(\(signature), expiresAt: \(expiresAt.map { "\($0)" } ?? "unknown"))"
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        Mirror(self, children: ["algorithm": algorithm as Any, "isUnsigned": isUnsigned, "expiresAt": expiresAt as Any])
    }
}
