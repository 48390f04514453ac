import Feathers
import FeathersSupport
import FeathersTesting
import Foundation
import TestBackend
import Testing

@Suite(
    "Expiry on the test backend", .serialized, .timeLimit(.minutes(10)), .inTurn, .enabled(if: !TestBackend.isSkipped))
struct BackendExpiryTests {
    // Its own: what others ask of a shared one may keep it busy for longer than the tokens live.
    private static let backend = TestBackend(variables: [:])

    private func app(
        _ account: BackendAccount, _ route: Route, _ configure: (inout AuthenticationOptions) -> Void = { _ in }
    ) throws
        -> FeathersApp
    {
        let app = FeathersApp(transport: route.transport(account.url))
        try app.use(authentication: AuthenticationOptions(refresh: .service("refresh-tokens"), configure))
        return app
    }

    @Test(
        "No call fails, no event is lost and one refresh is made when the token of 50 callers and 3 subscriptions ends",
        arguments: Route.allCases)
    func scenario(route: Route) async throws {
        let account = try await BackendAccount(lifetime: 2, refreshTokens: true, on: Self.backend)
        // What is made from the refresh on lives long: exactly one refresh is to be seen. The lead leaves time for it
        // on a machine under load.
        try await withFeathersApp(try app(account, route) { $0.refreshLead = .seconds(1) }) { app in
            let first = try await app.authenticate(account.credentials)
            try await account.run("expiry", ["seconds": 3600])
            let room = JSONValue.string(account.email)
            let subscriptions = (0..<3).map { _ in app.service("messages").events(.created) }
            let heard = Locked([0, 0, 0])
            let last = Promise<Void>()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, events) in subscriptions.enumerated() {
                    group.addTask {
                        for await event in events where event["room"] == room {
                            heard.withLock { $0[index] += 1 }
                            if event["text"] == "last" { return }
                        }
                        Issue.record("A subscription ended")
                    }
                }
                for _ in 0..<50 {
                    group.addTask {
                        // Until well after the first token has ended.
                        while Date.now.timeIntervalSince(first.payload?.expiresAt ?? .now) < 0.7 {
                            _ = try await app.service("secured").find(.limit(1))
                            _ = try await app.service("slow").get(20)
                        }
                    }
                }
                group.addTask {
                    while app.authentication.result?.accessToken == first.accessToken {
                        _ = try await app.service("messages").create(["room": room, "text": "during"])
                    }
                    _ = try await app.service("messages").create(["room": room, "text": "after"])
                    last.resolve(())
                }
                for _ in 0..<51 { try await group.next() }
                try await last.value()
                _ = try await app.service("messages").create(["room": room, "text": "last"])
                try await group.waitForAll()
            }
            let counts = try await account.counts()
            #expect(counts.refreshes == 1)
            #expect(counts.refused == 0)
            let counted = heard.withLock { $0 }
            #expect(counted[0] >= 3 && Set(counted).count == 1)
            #expect(app.authentication.result.map { $0.accessToken != first.accessToken } == true)
        }
    }

    @Test(
        "The server's disconnection at the token's end leads to another token and another connection",
        arguments: Route.realTime)
    func kicked(route: Route) async throws {
        let account = try await BackendAccount(lifetime: 1, refreshTokens: true, on: Self.backend)
        // A lead below zero: the connection is ended before anything is refreshed.
        try await withFeathersApp(try app(account, route) { $0.refreshLead = .seconds(-5) }) { app in
            let first = try await app.authenticate(account.credentials)
            try await account.run("expiry", ["seconds": 3600])
            for await status in app.connectionStatusUpdates() {
                if case .waiting = status { break }
                if case .closed = status { Issue.record("closed"); break }
            }
            #expect(try await app.service("secured").rawFind(.limit(1)).isNull == false)
            #expect(app.authentication.result.map { $0.accessToken != first.accessToken } == true)
            let counts = try await account.counts()
            #expect(counts.refreshes == 1 && counts.authenticated == 1)
        }
    }

    @Test("Without a refresh the sign-in ends, and the connection comes back as nobody's", arguments: Route.realTime)
    func expired(route: Route) async throws {
        let account = try await BackendAccount(lifetime: 1, refreshTokens: false, on: Self.backend)
        let storage = InMemoryTokenStorage()
        try await withFeathersApp(try app(account, route) { ($0.storage, $0.refresh) = (storage, .none) }) { app in
            let updates = app.authenticationUpdates()
            try await app.authenticate(account.credentials)
            for await state in updates where state == .expired { break }
            #expect(try await storage.token(for: account.tokenKey) == nil)
            // A public service still works.
            _ = try await app.service("messages").find(.limit(0))
            #expect(await failure { try await app.service("secured").find() }?.code == .notAuthenticated)
            // And so does signing in again.
            try await account.run("expiry", ["seconds": 3600])
            try await app.authenticate(account.credentials)
            _ = try await app.service("secured").find(.limit(1))
        }
    }

    @Test("A refused call is made again after one refresh, by many callers at once")
    func rejected() async throws {
        let account = try await BackendAccount(lifetime: 3600, refreshTokens: true, on: Self.backend)
        try await withFeathersApp(try app(account, .rest)) { app in
            try await app.authenticate(account.credentials)
            try await account.run("expire")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 { group.addTask { _ = try await app.service("secured").find(.limit(1)) } }
                try await group.waitForAll()
            }
            #expect(try await account.counts().refreshes == 1)
        }
    }
}
