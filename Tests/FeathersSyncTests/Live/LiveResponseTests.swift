import Feathers
import FeathersTesting
import Foundation
import Testing

@Suite("A response to a find that is neither a list nor a page", .timeLimit(.minutes(5)))
struct LiveResponseTests {
    static let strange: [JSONValue] = [["login": "now"], ["data": ["id": 1]], "text", 7, nil, [:]]

    @Test("ends no live query: the rows stay, and the list is fetched again", arguments: strange)
    func live(strange: JSONValue) async throws {
        let transport = StubTransport { _ in nil }
        transport.stub("notes", .find, with: .cycle([.value([["id": 1]]), .value(strange), .value([["id": 2]])]))
        let app = FeathersApp(transport: transport)
        try await withFeathersApp(app) { app in
            let query = app.service("notes").live()
            var snapshots = query.snapshots.makeAsyncIterator()
            let first = try await snapshots.next()
            #expect(first?.map(\.record) == [["id": 1]])
            let error = await #expect(throws: FeathersError.self) { try await query.refresh() }
            #expect(error?.code == .unavailable && error?.message.contains("'find' on service 'notes'") == true)
            async let _: Void = query.refresh()
            let second = try await snapshots.next()
            #expect(second?.map(\.record) == [["id": 2]])
        }
    }

    @Test("is not stored in a cache, but returned", arguments: strange)
    func cache(strange: JSONValue) async throws {
        let transport = StubTransport { _ in nil }
        transport.stub("notes", .find, with: .cycle([.value([["id": 1]]), .value(strange)]))
        let app = FeathersApp(transport: transport)
        app.use(cache: ServiceCache(policy: .networkOnlyUpdateCache))
        let notes = app.service("notes")
        _ = try await notes.find()
        let response = try await notes.respond(to: ServiceRequest(path: "notes", method: .find))
        #expect(response.result == strange)
        #expect(try await notes.find(params: .caching(.cacheOnly)).data == [["id": 1]])
    }

    @Test("is stored if the service has root keys that lead to a list")
    func rootKeys() async throws {
        let transport = StubTransport { _ in ["items": [["id": 1]]] }
        let app = FeathersApp(transport: transport)
        app.use(cache: ServiceCache(policy: .networkOnlyUpdateCache))
        let notes = app.service("notes", of: JSONValue.self, rootKeys: ["items"])
        _ = try await notes.find()
        #expect(try await notes.find(params: .caching(.cacheOnly)).data == [["id": 1]])
    }
}
