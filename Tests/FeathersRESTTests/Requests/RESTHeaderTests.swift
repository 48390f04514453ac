import FeathersCore
import FeathersNetworking
import FeathersREST
import Foundation
import Testing

@Suite("The headers of a service request")
struct RESTHeaderTests {
    private func headers(_ method: ServiceMethod, app: [String: String] = [:], call: [String: String] = [:])
        async throws -> [String:
        String]
    {
        let client = SeamHTTPClient(status: 204)
        let transport = RESTTransport(try #require(URL(string: "http://h")), headers: app, httpClient: client)
        _ = try await transport.send(ServiceRequest(path: "m", method: method, id: 1, params: Params(headers: call)))
        let fields = try #require(client.requests.first?.headers)
        return Dictionary(fields.map { ($0.name, $0.value) }) { _, _ in "given twice" }
    }

    @Test("ask for JSON, and say so of bodies", arguments: [.find, .get, .remove] as [ServiceMethod])
    func withoutBody(method: ServiceMethod) async throws {
        #expect(try await headers(method) == ["Accept": "application/json"])
    }

    @Test("announce JSON even where there is no data", arguments: [.create, .update, .patch] as [ServiceMethod])
    func withBody(method: ServiceMethod) async throws {
        #expect(try await headers(method) == ["Accept": "application/json", "Content-Type": "application/json"])
    }

    @Test("name a custom method")
    func custom() async throws {
        #expect(try await headers("archive")["X-Service-Method"] == "archive")
    }

    @Test("are the call's before the app's, whatever their case")
    func precedence() async throws {
        let sent = try await headers(
            .create, app: ["accept": "a/app", "X-App": "1", "Authorization": "app", "Content-Type": "app"],
            call: ["authorization": "call", "X-Call": "2"])
        #expect(
            sent == [
                "accept": "a/app", "X-App": "1", "authorization": "call", "Content-Type": "application/json",
                "X-Call": "2",
            ])
        #expect(
            try await headers(.find, call: ["ACCEPT": "application/json;q=1"]) == ["ACCEPT": "application/json;q=1"])
        #expect(try await headers(.create, call: ["content-type": "x/y"])["content-type"] == "x/y")
    }

    @Test("go with the transport's limit for answers, also those of endpoints")
    func maximumResponseBytes() async throws {
        let client = SeamHTTPClient(status: 204)
        let app = FeathersApp(
            transport: .rest(try #require(URL(string: "http://h")), maximumResponseBytes: 5, httpClient: client))
        _ = try await app.service("m").get(1)
        _ = try await app.request(Endpoint<EmptyResponse>(.get, "x"))
        #expect(client.requests.map(\.maximumResponseBytes) == [5, 5])
    }
}
