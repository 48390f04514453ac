import FeathersCore
import FeathersNetworking
import FeathersREST
import Foundation
import Testing

@Suite("An endpoint's response")
struct EndpointResponseTests {
    struct Profile: Codable, Hashable, Sendable {
        var name: String
    }

    static func app(_ body: String, status: Int = 200, headers: [(String, String)] = []) throws -> FeathersApp {
        try EndpointRequestTests.app(SeamHTTPClient(status: status, headers: headers, body: body))
    }

    static func request<Response>(_ endpoint: Endpoint<Response>, _ body: String, status: Int = 200) async throws
        -> Response
    {
        try await app(body, status: status).request(endpoint)
    }

    @Test("is a model, behind root keys through objects and arrays where the server wraps it")
    func models() async throws {
        let ada = Profile(name: "Ada")
        #expect(try await Self.request(Endpoint(.get, "x"), #"{"name":"Ada"}"#) == ada)
        #expect(
            try await Self.request(
                Endpoint(.get, "x", rootKeys: ["data", "users", 0]), #"{"data":{"users":[{"name":"Ada"}]}}"#) == ada)
        #expect(try await Self.request(Endpoint(.get, "x", rootKeys: [1]), #"[0,{"name":"Ada"}]"#) == ada)
        #expect(try await Self.request(Endpoint<JSONValue>(.get, "x"), "[1]") == [1])
        #expect(try await Self.request(Endpoint<Profile?>(.get, "x"), "", status: 204) == nil)
        #expect(try await Self.request(Endpoint<[Profile]>(.get, "x"), "[]") == [])
    }

    @Test("is the body itself for bytes and text, and JSON behind root keys")
    func raw() async throws {
        #expect(try await Self.request(Endpoint<Data>(.get, "x"), "{") == Data("{".utf8))
        #expect(try await Self.request(Endpoint<[UInt8]>(.get, "x"), "{") == [0x7b])
        #expect(try await Self.request(Endpoint<String>(.get, "x"), #""ü""#) == #""ü""#)
        #expect(try await Self.request(Endpoint<String>(.get, "x"), "", status: 204) == "")
        #expect(try await Self.request(Endpoint<String>(.get, "x", rootKeys: ["a"]), #"{"a":"ü"}"#) == "ü")
        #expect(try await Self.request(Endpoint<Data>(.get, "x", rootKeys: ["a"]), #"{"a":"AQI="}"#) == Data([1, 2]))
        #expect(try await Self.request(Endpoint<[UInt8]>(.get, "x", rootKeys: ["a"]), #"{"a":[1,2]}"#) == [1, 2])
        #expect(try await Self.request(Endpoint<EmptyResponse>(.get, "x"), "no JSON") == EmptyResponse())
    }

    @Test("is whatever a function of one's own makes of the answer")
    func decode() async throws {
        let endpoint = Endpoint<Int>(.get, "x") { Int(String(decoding: $0.body, as: UTF8.self)) ?? $0.status }
        #expect(try await Self.request(endpoint, "42") == 42)
        #expect(try await Self.request(endpoint, "", status: 201) == 201)
    }

    @Test("comes with status, header fields and URL")
    func whole() async throws {
        let app = try Self.app(#"{"name":"Ada"}"#, status: 203, headers: [("ETag", "\"1\"")])
        let response = try await app.response(to: Endpoint<Profile>(.get, "users/me"))
        #expect(response.value.name == "Ada")
        #expect(response.status == 203)
        #expect(response.headers["etag"] == "\"1\"")
        #expect(response.url.absoluteString == "http://home:3030/api/users/me")
    }

    @Test(
        "that does not fit says so, with the way to it and what was there, and no value",
        arguments: [
            (
                #"{"data":{"users":[{"name":["s3cret"]}]}}"#,
                """
                The response of GET users/me cannot be decoded as Profile: expected String but found an array at 'name'
                """
            ),
            (#"{"data":{"users":[{"s3cret":1}]}}"#, "'name' is missing"),
            (#"{"data":{"users":[]}}"#, "the root index 0 is missing at 'data.users'; found an array of length 0"),
            (
                #"{"data":{"people":[]}}"#,
                "the root key 'users' is missing at 'data'; found an object with the keys 'people'"
            ),
            ("s3cret", "The server returned status 200 with a non-JSON body"), ("", "found null"),
        ])
    func misfit(body: String, text: String) async throws {
        let endpoint = Endpoint<Profile>(.get, "/users/me", rootKeys: ["data", "users", 0])
        let error = try await #require(throws: FeathersError.self) { try await Self.request(endpoint, body) }
        #expect("\(error)".contains(text))
        #expect(!"\(error)".contains(body == #"{"data":{"users":[{"s3cret":1}]}}"# ? "1}" : "s3cret"))
    }

    @Test("of a refusal is the server's error, whatever type was asked for")
    func refusal() async throws {
        let body =
            #"{"name":"NotFound","message":"No such user","code":404,"className":"not-found","#
            + #""data":{"id":1},"errors":{"a":"b"}}"#
        let error = try await #require(throws: FeathersError.self) {
            try await Self.request(Endpoint<EmptyResponse>(.get, "x"), body, status: 404)
        }
        #expect(
            (error.code, error.message, error.data, error.errors) == (.notFound, "No such user", ["id": 1], ["a": "b"]))
        let other = try await #require(throws: FeathersError.self) {
            try await Self.request(Endpoint<Data>(.get, "x"), "<html>", status: 503)
        }
        #expect(other.code == .unavailable)
        #expect(other.response == FeathersError.Response(status: 503, body: Array("<html>".utf8)))
        await #expect { try await Self.request(Endpoint<String>(.get, "x"), "", status: 404) } throws: {
            FeathersError.Code.notFound ~= $0
        }
    }

    struct Refusal: Error {}

    @Test("is validated by the endpoint's own function first, then by status")
    func validation() async throws {
        let strict = Endpoint<EmptyResponse>(
            .get, "x", validate: { if $0.status == 418 || $0.body.isEmpty { throw Refusal() } })
        await #expect(throws: Refusal.self) { try await Self.request(strict, "tea", status: 418) }
        await #expect(throws: Refusal.self) { try await Self.request(strict, "") }
        await #expect { try await Self.request(strict, "x", status: 409) } throws: { FeathersError.Code.conflict ~= $0 }
        #expect(try await Self.request(strict, "x") == EmptyResponse())
    }

    @Test(
        "is of a type that was asked for, where somebody asked",
        arguments: [
            (nil, "text/html", true), ("text/csv", "text/csv; charset=utf-8", true), ("text/*", "TEXT/CSV", true),
            ("*/*", "a/b", true),
            ("text/csv, application/json;q=0.5", "application/json", true), ("text/csv", "text/html", false),
            ("text/csv", nil, true),
            ("image/*", "text/html", false),
        ] as [(String?, String?, Bool)])
    func contentType(accept: String?, type: String?, isAccepted: Bool) async throws {
        let app = try Self.app("body", headers: type.map { [("Content-Type", $0)] } ?? [])
        let endpoint = Endpoint<String>(.get, "x", headers: accept.map { ["Accept": $0] } ?? [:])
        if isAccepted {
            #expect(try await app.request(endpoint) == "body")
        } else {
            await #expect { try await app.request(endpoint) } throws: {
                "\($0)".contains("'text/html' instead of the requested '\(accept ?? "")'")
            }
        }
    }
}
