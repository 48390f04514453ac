import Feathers
import Foundation
import Testing

@Suite("What a token says of itself")
struct UnverifiedPayloadTests {
    private func result(_ token: String) async throws -> AuthenticationResult {
        let app = FeathersApp()
        try await app.use(Issuer(token: token), at: "authentication")
        try app.use(authentication: AuthenticationOptions())
        return try await app.authenticate(.jwt("x"))
    }

    private actor Issuer: ServiceProtocol {
        private let token: String

        init(token: String) { self.token = token }

        func create(_ data: JSONValue, _ params: Params) async throws -> JSONValue { ["accessToken": .string(token)] }
    }

    @Test("is read, and shown as what nobody has verified")
    func reading() async throws {
        let token = try SampleToken.make(["iat": 1_700_000_000, "exp": 1_700_000_002.5, "sub": "7", "role": "admin?>"])
        let payload = try #require(try await result(token).payload)
        #expect(payload.algorithm == "HS256" && !payload.isUnsigned)
        #expect(payload.issuedAt == Date(timeIntervalSince1970: 1_700_000_000))
        #expect(payload.expiresAt == Date(timeIntervalSince1970: 1_700_000_002.5))
        #expect(try await result("!!!.e30.x").payload?.algorithm == nil)
        #expect(payload.subject == "7" && payload.claims["role"] == "admin?>" && payload.claims["none"] == nil)
    }

    @Test("shows that a token is unsigned", arguments: ["none", "NONE", "None"])
    func unsigned(_ algorithm: String) async throws {
        let token = try SampleToken.make(header: ["alg": .string(algorithm)], ["sub": 1])
        #expect(try await result(token).payload?.isUnsigned == true)
        let bare = try SampleToken.make(["sub": 1], signature: "")
        #expect(try await result(bare).payload?.isUnsigned == true)
        #expect(try await result(bare).payload?.subject == "1")
        #expect("\(try await result(bare))".contains("unsigned"))
    }

    @Test(
        "of a token that is none is nil, and nothing else happens",
        arguments: [
            "garbage", "a.b.c", "..", ".", "a.b", "a.b.c.d", "e30.W10.x", "e30.IiI.x", "e30.bnVsbA.x", "e30.e30=e30.x",
        ])
    func malformed(_ token: String) async throws {
        #expect(try await result(token).payload == nil)
    }

    @Test(
        "has no expiry where that is no number, or one nobody can count with",
        arguments: ["tomorrow", .null, true, [], [:], 1e300, -1e300, 1e18, .number(.greatestFiniteMagnitude)]
            as [JSONValue])
    func oddExpiry(_ expiry: JSONValue) async throws {
        let payload = try #require(try await result(try SampleToken.make(["exp": expiry, "iat": expiry])).payload)
        #expect(payload.expiresAt == nil && payload.issuedAt == nil)
    }

    @Test("may be nested as deeply as it likes, or long")
    func nested() async throws {
        let deep = Data((String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000)).utf8)
            .base64EncodedString()
        #expect(try await result("e30.\(deep.replacingOccurrences(of: "=", with: "")).x").payload == nil)
        let long = try SampleToken.make(["sub": .string(String(repeating: "a", count: 40_000))])
        #expect(try await result(long).payload?.subject?.count == 40_000)
    }

    @Test("Tokens, passwords and users never show in descriptions, reflections and dumps")
    func secrets() async throws {
        let token = try SampleToken.make(["sub": "SECRET"])
        let server = SampleServer(
            .init(answer: ["accessToken": .string(token), "refreshToken": "SECRET", "user": ["name": "SECRET"]]))
        let storage = InMemoryTokenStorage(["x": "SECRET"])
        let app = try FeathersApp.sample(server, storage: storage)
        let credentials = AuthenticationCredentials.local(email: "SECRET@example.com", password: "SECRET")
        let result = try await app.authenticate(credentials)
        let tokens = AuthenticationTokens(accessToken: "SECRET", refreshToken: "SECRET")
        let answers: [Any] = [TokenRefresh.Outcome.tokens(tokens), TokenRefresh.Outcome.credentials(credentials)]
        for value in [credentials, result, app.authentication, result.payload as Any, tokens, storage] as [Any]
            + answers
        {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(describing: value), String(reflecting: value), dumped] {
                #expect(!text.contains("SECRET") && !text.contains(token) && !text.contains("eyJ"))
            }
        }
    }
}
