import Feathers
import TestBackend
import Testing

/// Servers that would have a client refresh its token without end.
@Suite("Hostile tokens", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct RefreshStormTests {
    static let behaviors = [
        "tokens of half a minute", "tokens of ten milliseconds", "tokens that have expired", "tokens of the future",
        "tokens without a life", "tokens without times", "tokens that it refuses",
    ]

    /// An app whose tokens are due a minute before they expire.
    private func app(_ subject: Subject, _ server: HostileServer) async throws -> FeathersApp {
        let app = try await subject.app(server, .seconds(10))
        try app.use(
            authentication: AuthenticationOptions(refresh: .service("refresh")) { $0.refreshLead = .seconds(60) })
        if subject.connects { try await app.connect() }
        try await app.authenticate(.local(email: "a", password: "p"))
        return app
    }

    @Test(
        "are refreshed at a measured pace, and every call ends in time", arguments: behaviors,
        [Subject.rest, .webSocket, .polling])
    func calls(_ behavior: String, _ subject: Subject) async throws {
        let server = try await HostileServer(behavior, on: Adversary.backend)
        // The subject's header fields would take the place of the token.
        let app = try await app(subject.testDescription == "REST" ? .bareREST : subject, server)
        let start = ContinuousClock.now
        var calls = 0
        repeat {
            let before = try await server.counters().refreshes
            let end = try await CallEnd {
                try await app.service("messages").get(7, params: Params(timeout: .seconds(8)))
            }
            switch end {
            case .answered(let answer): #expect(answer == Adversary.record(7))
            case .failed(let error): #expect(error.code == .notAuthenticated && behavior == "tokens that it refuses")
            }
            // A connection refreshes its token beside the calls.
            if !subject.connects { #expect(try await server.counters().refreshes - before <= 1) }
            calls += 1
        } while calls < 50 && ContinuousClock.now - start < .seconds(2)
        // The pauses are at least half of 1, 2 and 4 seconds. A refusal costs a call one refresh.
        let (refreshes, time) = (try await server.counters().refreshes, ContinuousClock.now - start)
        let isRefused = behavior == "tokens that it refuses"
        #expect(refreshes <= (isRefused ? calls : 4 + Int(time / .seconds(2.5))), "\(calls) calls in \(time)")
        if behavior == "tokens of half a minute" { #expect(refreshes == 0 && calls > 10) }
        await app.disconnect()
        try await server.relent()
    }

    @Test("keep a connection without calls as quiet", arguments: behaviors, [Subject.webSocket, .polling])
    func idle(_ behavior: String, _ subject: Subject) async throws {
        let server = try await HostileServer(behavior, on: Adversary.backend)
        let app = try await app(subject, server)
        // Nothing happens until then, so that only the time is left to wait for.
        _ = try? await server.counters(open: 1000, timeoutMs: 1500)
        #expect(try await server.counters().refreshes <= 4)
        await app.disconnect()
    }
}

extension Subject {
    /// REST without header fields of its own.
    fileprivate static let bareREST = Subject(testDescription: "REST", protocols: ["http"], connects: false) {
        FeathersApp(transport: .rest($0.url, timeout: $1, httpClient: ownClient))
    }
}
