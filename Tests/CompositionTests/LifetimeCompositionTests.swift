import Feathers
import FeathersCore
import FeathersTesting
import Foundation
import Testing

/// Lifetimes, shutdown, hooks and queries of whole apps.
@Suite(.timeLimit(.minutes(10))) struct LifetimeCompositionTests {
    @Test(arguments: [Way.socket, .mixed])
    func `Two bodies of one app share a connection that lasts as long as the longer one`(way: Way) async throws {
        let server = ModelServer()
        let model = try server.app(over: way, [])
        let (begun, ended) = (Counter(), Counter())
        async let longer: Void = withFeathersApp(model.app) { app in
            begun.add()
            try await ended.wait(for: 1)
            #expect(app.connectionStatus == .connected(recovered: false))
            #expect(try await app.service("news").find().data == [])
        }
        try await begun.wait(for: 1)
        try await model.connected { app in _ = try await app.service("news").find() }
        ended.add()
        try await longer
        #expect(model.app.connectionStatus == .offline)
        #expect(model.connection?.openings.count == 1)
    }

    @Test(arguments: [Way.socket, .mixed])
    func `A body that begins after a shutdown has a connection, although an earlier body is still there`(way: Way)
        async throws
    {
        let server = ModelServer()
        let model = try server.app(over: way, [])
        let (begun, ended) = (Counter(), Counter())
        async let first: Void = withFeathersApp(model.app) { app in
            begun.add()
            try await ended.wait(for: 1)
        }
        try await begun.wait(for: 1)
        try await model.waitUntilConnected()
        await model.app.shutDown(within: .zero)
        try await withFeathersApp(model.app) { app in
            _ = try await app.service("news").find()
        }
        ended.add()
        try await first
        #expect(model.connection?.openings.count == 2)
    }

    @Test func `Shutting down ends the calls of endpoints and of registered services`() async throws {
        let (clock, server) = (ManualClock(), ModelServer())
        let (endpoints, services) = (StubHTTPClient(), StubHTTPClient())
        let base = try #require(URL(string: "https://example.com"))
        for client in [endpoints, services] { client.stub(where: { _ in true }, with: .unanswered) }
        let model = try server.app(over: .socket, [])
        try await model.app.use(.rest(base, timeout: nil, httpClient: services), at: "reports")
        try await withFeathersApp(model.app) { app in
            let other = RESTTransport(base, timeout: nil, httpClient: endpoints)
            async let endpoint = failure { try await app.request(Endpoint<JSONValue>(.get, "slow"), over: other) }
            async let service = failure { try await app.service("reports").find() }
            try await endpoints.waitForRequest(number: 1)
            try await services.waitForRequest(number: 1)
            async let left = app.shutDown(within: .seconds(5), clock: clock)
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(5))
            #expect(await left == 2)
            #expect(await endpoint?.code == .unavailable)
            #expect(await service?.code == .unavailable)
        }
    }

    @Test func `An around hook recovers from an error hook that throws`() async throws {
        let app = FeathersApp()
        try await app.use(MemoryService(), at: "messages")
        app.use(
            hooks: Hooks(around: [
                { context, next in
                    do { try await next(&context) } catch { context.result = ["recovered": true] }
                }
            ]))
        await app.service("messages").use(
            hooks: Hooks(error: [{ _ in throw FeathersError(.generalError, "The error hook failed") }]))
        #expect(try await app.service("messages").get(1) == ["recovered": true])
    }

    @Test func `A query in params counts beside the call's own`() async throws {
        let app = FeathersApp()
        let records: [JSONObject] = [1, 2].flatMap { tenant in
            [["tenant": tenant, "old": true], ["tenant": tenant, "old": false]] as [JSONObject]
        }
        let service = try await app.use(MemoryService(multi: .all, records: records), at: "documents")
        let mine = Params(query: .where("tenant", 1))
        let removed = try await service.removeAll(query: .where("old", true), params: mine)
        #expect(removed.map { $0["tenant"] } == [1])
        let left = try await service.find()
        #expect(left.count == 3)
        // The same property on both sides: both conditions hold.
        #expect(try await service.find(.where("tenant", 2), params: mine).data == [])
    }
}
