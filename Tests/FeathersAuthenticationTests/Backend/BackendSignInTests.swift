import Feathers
import FeathersTesting
import Foundation
import TestBackend
import Testing

@Suite("Signing in on the test backend", .timeLimit(.minutes(10)), .inTurn, .enabled(if: !TestBackend.isSkipped))
struct BackendSignInTests {
    @Test("Signing in, calling and logging out work over every transport", arguments: Route.allCases)
    func everyTransport(route: Route) async throws {
        let account = try await BackendAccount(lifetime: nil, refreshTokens: false)
        let storage = InMemoryTokenStorage()
        let app = FeathersApp(transport: route.transport(account.url))
        try app.use(authentication: AuthenticationOptions(storage: storage))
        try await withFeathersApp(app) { app in
            #expect(await failure { try await app.service("secured").find() }?.code == .notAuthenticated)
            #expect(
                await failure { try await app.authenticate(.local(email: account.email, password: "wrong")) }?.message
                    == "Invalid login")
            let result = try await app.authenticate(account.credentials)
            #expect(result.user?["email"] == .string(account.email))
            #expect(
                result.payload?.algorithm == "HS256" && result.payload?.isUnsigned == false
                    && result.payload?.expiresAt != nil)
            _ = try await app.service("secured").find(.limit(1))
            try await app.logOut()
            #expect(await failure { try await app.service("secured").find() }?.code == .notAuthenticated)
            #expect(try await storage.token(for: account.tokenKey) == nil)
        }
    }

    @Test(
        "A stored token is used before the first call, and again on every connection", arguments: Route.realTime,
        [false, true])
    func reconnection(route: Route, inHandshake: Bool) async throws {
        let backend = TestBackend(variables: [:])
        let account = try await BackendAccount(lifetime: nil, refreshTokens: false, on: backend)
        let token =
            try await FeathersApp(transport: .rest(account.url)).service("authentication").create(
                ["strategy": "local", "email": .string(account.email), "password": .string(account.password)])[
                "accessToken"]?.string ?? ""
        try await account.run("reset")
        let app = FeathersApp(transport: route.transport(account.url))
        try app.use(
            authentication: AuthenticationOptions(storage: InMemoryTokenStorage([account.tokenKey: token])) {
                $0.authenticatesHandshake = inHandshake
            })
        try await withFeathersApp(app) { app in
            _ = try await app.service("secured").find(.limit(1))
            let expected: Int64 = inHandshake ? 2 : 1
            #expect(try await account.counts().authentications == expected)
            let status = app.connectionStatusUpdates()
            try await account.cutConnections()
            for await status in status {
                if case .waiting = status { break }
            }
            _ = try await app.service("secured").find(.limit(1))
            #expect(try await account.counts().authentications == 2 * expected)
        }
        withExtendedLifetime(backend) {}
    }

    @Test(arguments: Route.realTime)
    func `A log-out and another sign-in each take one new connection, without a delay`(route: Route) async throws {
        let backend = TestBackend(variables: [:])
        let alice = try await BackendAccount(lifetime: nil, refreshTokens: false, on: backend)
        let bob = try await BackendAccount(lifetime: nil, refreshTokens: false, on: backend)
        let app = FeathersApp(transport: route.transport(alice.url))
        try app.use(authentication: AuthenticationOptions())
        try await withFeathersApp(app) { app in
            try await app.authenticate(alice.credentials)
            _ = try await app.service("secured").find(.limit(1))
            let statuses = app.connectionStatusUpdates()
            let reading = Task {
                var seen: [ConnectionStatus] = []
                for await status in statuses {
                    seen.append(status)
                    if seen.count == 5 { break }
                }
                return seen
            }
            try await app.authenticate(bob.credentials)
            let user = try await app.service("secured").create(["text": "as whom?"])
            #expect(app.authentication.result?.user?["email"] == .string(bob.email))
            #expect(user["text"] == "as whom?")
            try await app.logOut()
            #expect(await failure { try await app.service("secured").find() }?.code == .notAuthenticated)
            _ = try await app.service("messages").find(.limit(1))
            let (opening, open) = (
                ConnectionStatus.connecting(attempt: 1), ConnectionStatus.connected(recovered: false)
            )
            #expect(await reading.value == [open, opening, open, opening, open])
        }
        withExtendedLifetime(backend) {}
    }
}
