import Feathers
import FeathersJSONAPI
import Foundation
import Testing

@Suite("The security policy")
struct SecurityPolicyTests {
    private static let text = Result {
        try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(
                path: "../../.github/SECURITY.md"), encoding: .utf8)
    }

    private static let socket = SocketIOTransport.Options()
    private static let request = HTTPRequest(url: URL(filePath: "/"))

    @Test(
        "The limits it names are the code's",
        arguments: [
            "\(request.maximumResponseBytes >> 20) MiB (`maximumResponseBytes`",
            "| \(JSONValue.defaultMaximumDepth) levels",
            "\(JSONAPICodec().maximumNesting) (`maximumNesting`)",
            "\(socket.maximumMessageSize >> 20) MiB (`maximumMessageSize`)",
            "\(socket.maximumAttachments) (`maximumAttachments`)",
            "\(Service<JSONValue>.defaultEventBuffer) (`bufferingNewest`)",
            "\(socket.callTimeout?.components.seconds ?? 0) s over Socket.IO",
        ])
    func limits(_ limit: String) throws {
        #expect(try Self.text.get().contains(limit))
    }

    @Test("Calls that wait, redirects and the depth nobody may exceed are what it says")
    func others() throws {
        #expect(Self.socket.offlineCalls == .wait(limit: 1000) && !Self.socket.recoversState)
        #expect(Self.request.redirects == .follow(maximum: 20))
        #expect(Self.request.maximumResponseBytes == Self.socket.maximumMessageSize)
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(throws: Never.self) { try JSONValue(parsing: nested(1024), maximumDepth: .max) }
        #expect(throws: JSONParsingError.self) { try JSONValue(parsing: nested(1025), maximumDepth: .max) }
    }

    @Test("What it says is never printed is not", arguments: ["print", "debug", "dump"])
    func printing(_ way: String) throws {
        func text(_ value: some Any) -> String {
            switch way {
            case "print": return "\(value)"
            case "debug": return String(reflecting: value)
            default:
                var text = ""
                dump(value, to: &text)
                return text
            }
        }
        let secret = "s3cr3t-w0rd"
        let storage = InMemoryTokenStorage(["feathers-jwt": secret])
        #expect(!text(AuthenticationCredentials.local(email: "a@example.com", password: secret)).contains(secret))
        #expect(!text(AuthenticationTokens(accessToken: secret, refreshToken: secret)).contains(secret))
        #expect(!text(AuthenticationOptions(storage: storage)).contains(secret))
        let error = FeathersError(.badRequest, "Bad", data: .string(secret), errors: ["password": .string(secret)])
        #expect("\(error)".contains("Bad") && !"\(error)".contains(secret))
        var headers = HTTPHeaders()
        try headers.set("Authorization", to: secret)
        #expect("\(headers)" == "[Authorization]")
    }
}
