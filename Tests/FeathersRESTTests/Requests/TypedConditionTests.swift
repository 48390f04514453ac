import FeathersCore
import FeathersNetworking
import FeathersREST
import FeathersSupport
import Foundation
import Testing

@Suite("Conditions that lose their types in a query string")
struct TypedConditionTests {
    /// The warnings of an app that makes these queries, one after the other.
    private func warnings(
        of queries: [Query<JSONValue>], at path: String = "m", _ options: QueryStringOptions = QueryStringOptions()
    ) async throws -> [String] {
        let base = try #require(URL(string: "http://h"))
        let app = FeathersApp(
            transport: RESTTransport(base, queryOptions: options, httpClient: SeamHTTPClient(body: "[]")))
        let messages = Locked<[String]>([])
        app.use(
            diagnostics: ClosureDiagnosticSink { event in messages.withLock { $0.append(event.message) } },
            levels: DiagnosticLevels(nil, [.http: .warning]))
        for query in queries { _ = try await app.service(path).find(query) }
        return messages.withLock { $0 }
    }

    @Test(
        "are reported with their property",
        arguments: [
            (["done": false], "'done'"), (["n": ["$gt": 3]], "'n'"), (["n": 1.5], "'n'"), (["a": nil], "'a'"),
            (["n": ["$in": [1]]], "'n'"),
            (["a": ["b": true]], "'a.b'"), (["$or": [["text": "x"], ["n": 1]]], "'n'"),
        ] as [(Query<JSONValue>, String)])
    func reported(query: Query<JSONValue>, property: String) async throws {
        let warnings = try await warnings(of: [query])
        #expect(warnings.count == 1)
        #expect(warnings.first?.contains("'find' on service 'm' compares \(property) with") == true)
    }

    @Test("are reported once for each service")
    func once() async throws {
        #expect(try await warnings(of: [["n": 1], ["n": 2], ["done": true]]).count == 1)
    }

    @Test("are not reported where nothing is lost")
    func silent() async throws {
        let query = Query.where("text", .isIn(["a", "b"])).sorted(by: "n").limit(1).skip(2).selecting("id")
        #expect(try await warnings(of: [Query(), query]).isEmpty)
        #expect(try await warnings(of: [["n": 1]], QueryStringOptions(serverParsesTypes: true)).isEmpty)
    }

    @Test("are ids that are then read one by one, unless the server parses types", arguments: [false, true])
    func ids(parsesTypes: Bool) async throws {
        let client = SeamHTTPClient(body: "[]")
        let options = QueryStringOptions(serverParsesTypes: parsesTypes)
        let base = try #require(URL(string: "http://h"))
        let app = FeathersApp(transport: RESTTransport(base, queryOptions: options, httpClient: client))
        // This server's response to each request is a list.
        _ = try? await app.service("m").find(ids: [7])
        #expect(client.requests.map { $0.url.path } == (parsesTypes ? ["/m"] : ["/m", "/m/7"]))
    }
}
