import FeathersCore
import Foundation

/// Makes tokens that read as JSON Web Tokens, without a signature that means anything.
enum ModelToken {
    static func make(_ claims: JSONValue) -> String {
        "\(part(["alg": "HS256", "typ": "access"])).\(part(claims)).c2lnbmF0dXJl"
    }

    private static func part(_ json: JSONValue) -> String {
        let bytes = (try? json.serialized()) ?? []
        return Data(bytes).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_").replacingOccurrences(
                of: "=", with: "")
    }
}
