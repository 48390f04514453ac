import Feathers
import FeathersCore
import FeathersTesting
import Foundation
import Testing

@Suite("Queries that a query string cannot carry, over a mixed transport", .timeLimit(.minutes(5)))
struct MixedLongListTests {
    private let socket = StubRealTimeTransport()
    private let http = StubHTTPClient()

    private func app(_ configure: (inout TransportRoutes) -> Void = { _ in }) throws -> FeathersApp {
        let url = try #require(URL(string: "http://example.com"))
        for method in ServiceMethod.standard { socket.stub(method, with: .value([])) }
        return FeathersApp(
            transport: .mixed(realTime: socket, rest: .rest(url, httpClient: http), configure))
    }

    static let queries: [Query<JSONValue>] = [
        .where("id", .isIn(0..<21)), .where("id", .isNotIn(0..<21)), .where("id", .isIn([Int]())),
        ["a": ["b": ["c": ["d": ["e": ["f": ["g": 1]]]]]]],
    ]

    @Test("go over the connection if it is open, whatever their route", arguments: queries)
    func connected(query: Query<JSONValue>) async throws {
        let app = try app { $0.standard = .rest }
        try await app.connect()
        let todos = app.service("todos")
        #expect(try await todos.find(query).isEmpty)
        #expect(try await todos.removeAll(query: query).isEmpty)
        #expect(socket.requests.map(\.params.query) == [query, query] && http.requests.isEmpty)
    }

    @Test("are refused without a connection", arguments: queries)
    func disconnected(query: Query<JSONValue>) async throws {
        for configure in [{ _ in }, { $0.standard = .rest }] as [(inout TransportRoutes) -> Void] {
            let todos = try app(configure).service("todos")
            await #expect { try await todos.find(query) } throws: { error in
                let error = error as? FeathersError
                return error?.code == .badRequest && error?.execution == .neverSent
            }
        }
        #expect(socket.requests.isEmpty && http.requests.isEmpty)
    }

    @Test("are refused if the call has header fields or a token of its own, which a connection does not carry")
    func fields() async throws {
        let app = try app()
        try await app.connect()
        let todos = app.service("todos")
        let query = Query<JSONValue>.where("id", .isNotIn(0..<21))
        for params in [Params(headers: ["X-Tenant": "1"]), Params(token: "theirs")] {
            await #expect { try await todos.removeAll(query: query, params: params) } throws: { error in
                (error as? FeathersError)?.message.contains("arrayLimit") == true
            }
        }
        await #expect(throws: FeathersError.self) {
            try await app.withToken("theirs") { _ = try await todos.removeAll(query: query) }
        }
        #expect(socket.requests.isEmpty && http.requests.isEmpty)
        // Fields that change nothing do not count.
        _ = try await todos.removeAll(query: query, params: Params(headers: ["X-Request-Id": "1"]))
        #expect(socket.requests.count == 1)
    }

    @Test("are divided where records are read by their ids, so that either part can carry them")
    func ids() async throws {
        let app = try app()
        #expect(await app.service("todos").idsPerRequest == 20)
        #expect(await FeathersApp(transport: socket).service("todos").idsPerRequest == 50)
        try await app.connect()
        #expect(try await app.service("todos").find(ids: 0..<45).isEmpty)
        #expect(
            socket.requests.compactMap { $0.params.query.json["id"]?["$in"]?.array?.count }.sorted() == [5, 20, 20])
    }
}
