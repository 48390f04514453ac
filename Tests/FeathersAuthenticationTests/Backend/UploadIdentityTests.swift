import Feathers
import FeathersTesting
import Foundation
import TestBackend
import Testing

@Suite("The identity of an uploaded stream", .timeLimit(.minutes(10)), .inTurn, .enabled(if: !TestBackend.isSkipped))
struct UploadIdentityTests {
    @Test("is renewed after a 401, but the stream is not sent again, and the error says so")
    func renewal() async throws {
        let backend = TestBackend(variables: [:])
        let account = try await BackendAccount(lifetime: 3600, refreshTokens: true, on: backend)
        let app = FeathersApp(transport: Route.feathers6.transport(account.url))
        try app.use(authentication: AuthenticationOptions(refresh: .service("refresh-tokens")))
        try await app.authenticate(account.credentials)
        try await account.run("expire")
        func upload() async throws {
            let pieces = AsyncStream<Data> { continuation in
                continuation.yield(Data(#"{"text":"a"}"#.utf8))
                continuation.finish()
            }
            try await app.service("secured").create(stream: pieces, contentType: "application/json")
        }
        await #expect { try await upload() } throws: { "\($0)".contains("call again with a new stream") }
        try await upload()
    }
}
