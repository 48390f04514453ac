import FeathersCore
import Foundation

/// Makes tokens as a server would, signed by nobody.
enum SampleToken {
    static func make(
        header: JSONValue = ["alg": "HS256", "typ": "access"], _ claims: JSONValue, signature: String = "c2lnbmF0dXJl"
    ) throws -> String {
        "\(try part(header)).\(try part(claims)).\(signature)"
    }

    /// A token issued at a moment of the server's clock, in seconds since 1970.
    static func make(issuedAt: Double, lifetime: Double, subject: String = "1") throws -> String {
        try make(["iat": .number(issuedAt), "exp": .number(issuedAt + lifetime), "sub": .string(subject)])
    }

    static func part(_ json: JSONValue) throws -> String {
        Data(try json.serialized()).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_").replacingOccurrences(
                of: "=", with: "")
    }
}
