import FeathersCore
import FeathersNetworking
import FeathersSupport
import Foundation
import Testing

@testable import FeathersREST

@Suite("Lists of more than 20 elements over REST", .timeLimit(.minutes(5)))
struct LongListTests {
    private static func app(
        _ client: any HTTPClient, _ options: QueryStringOptions = QueryStringOptions()
    ) throws -> FeathersApp {
        let url = try #require(URL(string: "http://example.com"))
        return FeathersApp(transport: .rest(url, queryOptions: options, httpClient: client))
    }

    private static let texts = (0..<22).map { "t\($0)" }

    struct Call: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let send: @Sendable (FeathersApp) async throws -> Void

        init(_ testDescription: String, _ send: @escaping @Sendable (FeathersApp) async throws -> Void) {
            (self.testDescription, self.send) = (testDescription, send)
        }
    }

    static let calls: [Call] = [
        Call("find $in") { _ = try await $0.service("todos").find(.where("id", .isIn(texts))) },
        Call("find $nin") { _ = try await $0.service("todos").find(.where("id", .isNotIn(texts))) },
        Call("find $or") { _ = try await $0.service("todos").find(.any(of: texts.map { .where("id", $0) })) },
        Call("find $select") { _ = try await $0.service("todos").find(Query().selecting(texts)) },
        Call("get $select") { _ = try await $0.service("todos").get(1, query: Query().selecting(texts)) },
        Call("removeAll $nin") { _ = try await $0.service("todos").removeAll(query: .where("id", .isNotIn(texts))) },
        Call("patchAll $nin") {
            _ = try await $0.service("todos").patchAll(query: .where("id", .isNotIn(texts)), with: ["a": 1])
        },
        Call("pages") {
            for try await _ in $0.service("todos").pages(.where("id", .isNotIn(texts)), keyedBy: "id") {}
        },
        Call("find(ids:) with another list") {
            _ = try await $0.service("todos").find(ids: ["a"], query: .where("tag", .isNotIn(texts)))
        },
        Call("an upload") {
            let body = EndpointBody.data(Data("x".utf8), contentType: .binary)
            _ = try await $0.service("todos").upload(body, query: Query().selecting(texts))
        },
        Call("an endpoint") {
            try await $0.request(Endpoint<EmptyResponse>(.get, "x", query: .where("id", .isIn(texts))))
        },
    ]

    @Test("are refused before they are sent, with the setting and the server's line", arguments: calls)
    func refused(call: Call) async throws {
        let client = SeamHTTPClient(headers: [("Content-Type", "application/json")], body: "[]")
        await #expect { try await call.send(Self.app(client)) } throws: { error in
            let error = error as? FeathersError
            return error?.code == .badRequest && error?.execution == .neverSent
                && error?.message.contains("QueryStringOptions(arrayLimit: 1000)") == true
                && error?.message.contains("app.set('query parser'") == true
        }
        #expect(client.requests.isEmpty)
    }

    @Test("are sent if the app says that its server reads them, and by FeathersJS 6", arguments: [22, 1000])
    func declared(count: Int) async throws {
        let client = SeamHTTPClient(headers: [("Content-Type", "application/json")], body: "[]")
        let query = Query<JSONValue>.where("id", .isNotIn(0..<count))
        _ = try await Self.app(client, QueryStringOptions(arrayLimit: 1000)).service("todos").find(query)
        let url = try #require(URL(string: "http://example.com"))
        let builder = Feathers6Transport(url).rest.builder
        let sent = try builder.url(path: "todos", query: query)
        #expect(client.requests.map(\.url) == [sent])
    }

    /// Responds to `find` with the records of `$in`, once as many requests wait as are expected.
    private final class Server: HTTPClient {
        private let expected: Int
        private let state = Locked((waiting: [Promise<Void>](), sizes: [Int](), open: 0, most: 0))

        init(expecting expected: Int) { self.expected = expected }

        var sizes: [Int] { state.withLock { $0.sizes } }
        var most: Int { state.withLock { $0.most } }

        func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
            let pairs = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
            let ids = pairs.filter { $0.name.hasPrefix("id[$in]") }.compactMap(\.value)
            let turn = Promise<Void>()
            let ready = state.withLock { state -> [Promise<Void>] in
                state.sizes.append(ids.count)
                state.open += 1
                state.most = max(state.most, state.open)
                state.waiting.append(turn)
                guard state.open == expected || state.sizes.reduce(0, +) == 1000 else { return [] }
                defer { state.waiting = [] }
                return state.waiting
            }
            for turn in ready { _ = turn.resolve(()) }
            try await turn.value()
            state.withLock { $0.open -= 1 }
            let body = try JSONValue.array(ids.map { ["id": .string($0)] }).serialized()
            let headers = HTTPHeaders(received: [("Content-Type", "application/json")])
            return HTTPResponse(status: 200, headers: headers, body: body, url: request.url)
        }
    }

    @Test("are divided where records are read by their ids: 1,000 take 50 requests, six at a time")
    func divided() async throws {
        let server = Server(expecting: 6)
        let ids = (0..<1000).map { "t\($0)" }
        let found = try await Self.app(server).service("todos").find(ids: ids)
        #expect(try found.map { try $0.id } == ids.map { ServiceID($0) })
        #expect(server.sizes.count == 50 && server.sizes.allSatisfy { $0 == 20 } && server.most == 6)
    }

    @Test(
        "are divided by the transport's limit, and by no more than 50",
        arguments: [(20, 20), (7, 7), (1, 1), (0, 1), (200, 50), (nil, 50)] as [(Int?, Int)])
    func limits(limit: Int?, size: Int) async throws {
        let client = SeamHTTPClient(headers: [("Content-Type", "application/json")], body: "[]")
        let url = try #require(URL(string: "http://example.com"))
        let rest = RESTTransport.rest(url, queryOptions: QueryStringOptions(arrayLimit: limit), httpClient: client)
        #expect(await FeathersApp(transport: rest).service("todos").idsPerRequest == size)
    }
}
