import Feathers
import FeathersSupport
import FeathersTesting
import Foundation
import TestBackend
import Testing

/// How often a token is refreshed, and how long calls wait for that.
@Suite(.timeLimit(.minutes(10))) struct RefreshPaceTests {
    private static let start = Date(timeIntervalSince1970: 1_700_000_000)
    private let clock = ManualClock()

    /// An app that signs in with a token of this life, and gets tokens of the same life.
    private func app(
        _ server: SampleServer, lifetime: Double, lead: Duration? = .seconds(60), refreshed: Int = 100
    ) async throws -> FeathersApp {
        let tokens = try (0...refreshed).map {
            try SampleToken.make(issuedAt: 1_700_000_000, lifetime: lifetime, subject: "1") + "\($0)"
        }
        server.change { ($0.token, $0.refreshed) = (tokens[0], Array(tokens[1...])) }
        let (start, clock) = (Self.start, clock)
        let app = try FeathersApp.sample(server) {
            ($0.refresh, $0.clock, $0.refreshLead) = (.service("refresh-tokens"), clock, lead)
            $0.date = { start }
        }
        try await app.authenticate(.local(email: "a", password: "p"))
        return app
    }

    private func refreshes(_ server: SampleServer) -> Int { server.requests(to: "refresh-tokens").count }

    @Test func `A lead longer than a token's life is half of it`() async throws {
        let server = SampleServer()
        let app = try await app(server, lifetime: 30)
        for _ in 0..<20 { _ = try await app.service("messages").rawFind() }
        #expect(refreshes(server) == 0)
        for round in 1...3 {
            clock.advance(by: .seconds(15))
            for _ in 0..<20 { _ = try await app.service("messages").rawFind() }
            #expect(refreshes(server) == round)
        }
    }

    @Test func `A call waits for one refresh at most, although the new token is due at once`() async throws {
        let server = SampleServer()
        let app = try await app(server, lifetime: 0.01, lead: .seconds(1))
        clock.advance(by: .seconds(1))
        _ = try await app.service("messages").rawFind()
        #expect(refreshes(server) == 1)
        // Until the pace permits the next one, the server decides whether it accepts the token.
        clock.advance(by: .milliseconds(100))
        for _ in 0..<20 { _ = try await app.service("messages").rawFind() }
        #expect(refreshes(server) == 1)
        server.change { $0.rejected = [app.authentication.result?.accessToken ?? ""] }
        _ = try await app.service("messages").rawFind()
        #expect(refreshes(server) == 2)
    }

    @Test func `A service that refuses every token costs a call one refresh`() async throws {
        let server = SampleServer()
        let app = try await app(server, lifetime: 3600)
        server.transport.stub("closed", with: .error(FeathersError(.notAuthenticated, "jwt expired")))
        for number in 1...20 {
            #expect(await failure { try await app.service("closed").rawFind() }?.message == "jwt expired")
            _ = try await app.service("messages").rawFind()
            #expect(refreshes(server) == number)
        }
        #expect(app.authentication.result != nil)
        // While refreshes fail, a refusal does not begin another one so soon.
        server.change { $0.refreshFailure = FeathersError(.unavailable, "down") }
        for _ in 1...20 {
            #expect(await failure { try await app.service("closed").rawFind() }?.message == "jwt expired")
        }
        #expect(refreshes(server) == 21)
    }

    @Test func `While refreshes fail, a valid token is used, and they become rarer`() async throws {
        let server = SampleServer(.init(refreshFailure: FeathersError(.unavailable, "down")))
        let app = try await app(server, lifetime: 3600)
        clock.advance(by: .seconds(3541))
        for _ in 0..<300 {
            #expect(try await app.service("messages").rawFind()["authorization"] != .null)
            clock.advance(by: .milliseconds(100))
        }
        // In 30 seconds: pauses of 1, 2, 4 and then 5 seconds, or half of that.
        #expect((7...14).contains(refreshes(server)))
    }

    @Test func `A call without a time limit waits for a sign-in no longer than its transport's`() async throws {
        let http = StubHTTPClient { HTTPResponse(status: 200, body: Array("[]".utf8), url: $0.url) }
        let url = try #require(URL(string: "https://api.example.com"))
        let clock = clock
        for transport: any Transport in [
            RESTTransport.rest(url, timeout: .seconds(10), httpClient: http),
            StubRealTimeTransport(callTimeout: .seconds(10)),
        ] {
            let app = FeathersApp(transport: transport)
            try app.use(authentication: AuthenticationOptions { $0.clock = clock })
            let (entered, never) = (Promise<Void>(), ClosedGate())
            await app.service("authentication").use(
                hooks: Hooks(before: [
                    .create: [
                        { _ in
                            entered.resolve(())
                            try await never.pass()
                        }
                    ]
                ]))
            let signIn = Task { try await app.authenticate(.local(email: "a", password: "p")) }
            try await entered.value()
            async let error = failure { try await app.service("messages").find() }
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(10))
            #expect(await error?.code == .timeout)
            #expect(await error?.execution == .neverSent)
            signIn.cancel()
            _ = await signIn.result
        }
        #expect(http.requests.isEmpty)
    }
}
