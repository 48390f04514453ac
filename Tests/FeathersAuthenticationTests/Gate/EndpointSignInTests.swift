import Feathers
import FeathersAuthentication
import FeathersCore
import Foundation
import Synchronization
import Testing

@Suite("Sign-ins of endpoints", .timeLimit(.minutes(10)))
struct EndpointSignInTests {
    /// Answers with the header it was asked with, and refuses one token.
    struct EchoingClient: HTTPClient {
        var refused: String?

        func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
            let header = request.headers["Authorization"] ?? "none"
            return HTTPResponse(status: header == refused ? 401 : 200, body: Array(header.utf8), url: request.url)
        }
    }

    private func app(_ server: SampleServer, refused: String? = nil) throws -> FeathersApp {
        let app = try FeathersApp.sample(server, storage: InMemoryTokenStorage(["feathers-jwt http://home": "stored"]))
        app.endpointTransport = .rest(
            try #require(URL(string: "http://home")), httpClient: EchoingClient(refused: refused))
        return app
    }

    @Test("go to the app's own origin and to no other")
    func origins() async throws {
        let app = try app(SampleServer())
        #expect(try await app.request(Endpoint<String>(.get, "x")) == "Bearer stored")
        #expect(try await app.request(Endpoint<String>(.get, "http://other/x")) == "none")
        #expect(
            try await app.request(Endpoint<String>(.get, "http://other/x", headers: ["Authorization": "Basic own"]))
                == "Basic own")
    }

    @Test("are not doubted because somebody else's server refuses")
    func foreignRefusal() async throws {
        let server = SampleServer()
        let app = try app(server, refused: "none")
        #expect(try await app.request(Endpoint<String>(.get, "x")) == "Bearer stored")
        let signIns = server.requests(to: "authentication").count
        await #expect { try await app.request(Endpoint<String>(.get, "http://other/x")) } throws: {
            FeathersError.Code.notAuthenticated ~= $0
        }
        #expect(server.requests(to: "authentication").count == signIns)
        #expect(app.authentication.result?.accessToken == "stored")
    }
}
