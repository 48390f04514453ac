import Feathers
import FeathersTesting
import Foundation
import TestBackend
import Testing

@Suite("The identity of an event stream", .timeLimit(.minutes(10)), .inTurn, .enabled(if: !TestBackend.isSkipped))
struct StreamIdentityTests {
    private func wait(_ deliveries: inout AsyncStream<EventDelivery<ServiceEvent>>.Iterator, for text: String) async
        -> [String]
    {
        var heard: [String] = []
        while let delivery = await deliveries.next(isolation: #isolation) {
            switch delivery {
            case .event(let event):
                heard.append("\(event.data["text"]?.string ?? "-")")
                if event.data["text"]?.string == text { return heard }
            case .gap(let gap): heard.append("gap \(gap.reason)")
            }
        }
        return heard
    }

    private func connected(_ statuses: inout AsyncStream<ConnectionStatus>.Iterator) async {
        while let status = await statuses.next(isolation: #isolation), status != .connected(recovered: false) {}
    }

    @Test("is that of the signed-in user after a sign-in and a log-out, each time with a gap")
    func signIn() async throws {
        let backend = TestBackend(variables: [:])
        let account = try await BackendAccount(lifetime: nil, refreshTokens: false, on: backend)
        let control = FeathersApp(transport: .rest(account.url)).service("control")
        func emit(_ text: String, _ path: String) async throws {
            try await control.create([
                "op": "emit", "service": .string(path), "event": "created", "data": ["text": .string(text)],
            ])
        }
        let app = FeathersApp(transport: Route.feathers6.transport(account.url))
        try app.use(authentication: AuthenticationOptions())
        try await withFeathersApp(app) { app in
            var statuses = app.connectionStatusUpdates().makeAsyncIterator()
            await connected(&statuses)
            var secured = app.service("secured").eventDeliveries().makeAsyncIterator()
            var messages = app.service("messages").eventDeliveries().makeAsyncIterator()
            // Nobody hears of secured records without a user.
            try await emit("hidden", "secured")
            try await emit("one", "messages")
            #expect(await wait(&messages, for: "one") == ["one"])

            try await app.authenticate(account.credentials)
            await connected(&statuses)
            try await emit("shown", "secured")
            // The next stream may open before readers are told of the user, and that gap takes the place of the
            // stream's.
            let shown = await wait(&secured, for: "shown")
            #expect(
                shown.first == "gap identityChanged" && shown.dropLast().allSatisfy { $0.hasPrefix("gap") }, "\(shown)")

            try await app.logOut()
            await connected(&statuses)
            try await emit("hidden again", "secured")
            try await emit("two", "messages")
            let heard = await wait(&messages, for: "two")
            // A change of user drops what the previous one had not read.
            #expect(
                heard.first == "gap identityChanged" && heard.dropLast().allSatisfy { $0.hasPrefix("gap") }, "\(heard)")
            try await app.authenticate(account.credentials)
            await connected(&statuses)
            try await emit("shown again", "secured")
            #expect(await wait(&secured, for: "shown again").contains("hidden again") == false)
        }
    }

    @Test("is renewed with the token, with a gap")
    func refresh() async throws {
        let backend = TestBackend(variables: [:])
        let account = try await BackendAccount(lifetime: 3600, refreshTokens: true, on: backend)
        let app = FeathersApp(transport: Route.feathers6.transport(account.url))
        try app.use(authentication: AuthenticationOptions(refresh: .service("refresh-tokens")))
        try await withFeathersApp(app) { app in
            try await app.authenticate(account.credentials)
            var statuses = app.connectionStatusUpdates().makeAsyncIterator()
            await connected(&statuses)
            var deliveries = app.service("messages").eventDeliveries().makeAsyncIterator()
            try await account.run("expire")
            _ = try await app.service("secured").find(.limit(1))
            guard case .gap(let gap)? = await deliveries.next(isolation: #isolation), case .reconnected = gap.reason
            else {
                Issue.record("There was no gap")
                return
            }
        }
    }

    @Test("that the server refuses is that of the next user who signs in")
    func refused() async throws {
        let backend = TestBackend(variables: [:])
        let account = try await BackendAccount(lifetime: nil, refreshTokens: false, on: backend)
        let url = account.url.appending(path: "v6")
        let app = FeathersApp(transport: .feathers6(url) { $0.path = "private-sse" })
        try app.use(authentication: AuthenticationOptions())
        await #expect { try await app.connect() } throws: { FeathersError.Code.notAuthenticated ~= $0 }
        try await withFeathersApp(app) { app in
            var statuses = app.connectionStatusUpdates().makeAsyncIterator()
            while let status = await statuses.next(isolation: #isolation) {
                if case .closed(.refused) = status { break }
            }
            try await app.authenticate(account.credentials)
            await connected(&statuses)
        }
    }
}
