import FeathersCore
import FeathersNetworking
import FeathersREST
import Foundation
import Testing

@Suite("An HTTP answer to a service request")
struct RESTAnswerTests {
    private func send(_ client: SeamHTTPClient) async throws -> JSONValue {
        try await RESTTransport(try #require(URL(string: "http://h")), httpClient: client).send(
            ServiceRequest(path: "m", method: .find)
        )
        .result
    }

    @Test(
        "is its JSON, or null where there is nothing",
        arguments: [
            (200, #"{"a":[1,null]}"#, ["a": [1, nil]]), (201, "[]", []), (206, "1", 1), (200, #""text""#, "text"),
            (200, "null", nil),
            (204, "", nil), (200, "", nil), (204, "ignored", nil), (299, " true ", true),
            (200, "\u{FEFF}{}", [:]),
        ] as [(Int, String, JSONValue)])
    func result(status: Int, body: String, expected: JSONValue) async throws {
        #expect(try await send(SeamHTTPClient(status: status, body: body)) == expected)
    }

    @Test(
        "that succeeds without being JSON is an error that keeps it",
        arguments: ["<html>", "{", "\u{FEFF}", "\u{FEFF}\u{FEFF}{}", "undefined", "1 2"])
    func noJSON(body: String) async throws {
        let error = try await #require(throws: FeathersError.self) {
            try await send(SeamHTTPClient(status: 200, body: body))
        }
        #expect(error.code == .unavailable)
        #expect(error.message.contains("200"))
        #expect(error.execution == .mayHaveExecuted)
        #expect(error.response == FeathersError.Response(status: 200, body: Array(body.utf8)))
    }

    @Test("from no service says so with the URL, and shows none of its secrets")
    func noService() async throws {
        let bodies = [
            #"""
            {"name":"NotFound","message":"Page not found","code":404,"className":"not-found","data":{"url":"/v2/m"}}
            """#,
            "<html>", "",
        ]
        for body in bodies {
            let transport = RESTTransport(
                try #require(URL(string: "http://bob:s3cret@h/v2")), httpClient: SeamHTTPClient(status: 404, body: body)
            )
            let request = ServiceRequest(path: "m", method: .find, params: Params(query: .where("token", "s3cret")))
            let error = try await #require(throws: FeathersError.self) { try await transport.send(request) }
            #expect(error.code == .notFound && "\(error)".contains("no service found at http://h/v2/m"))
            #expect(!"\(error)".contains("s3cret"))
        }
        let record = #"{"name":"NotFound","message":"No record found for id '1'","code":404,"className":"not-found"}"#
        let error = try await #require(throws: FeathersError.self) {
            try await send(SeamHTTPClient(status: 404, body: record))
        }
        #expect("\(error)" == "NotFound 404: No record found for id '1'")
    }

    @Test("with a Feathers error is that error")
    func feathersError() async throws {
        let body =
            #"{"name":"NotFound","message":"No record","code":404,"className":"not-found","#
            + #""data":{"id":1},"errors":[1]}"#
        let error = try await #require(throws: FeathersError.self) {
            try await send(SeamHTTPClient(status: 404, body: body))
        }
        #expect(error.code == .notFound)
        #expect(error.message == "No record")
        #expect(error.data == ["id": 1])
        #expect(error.errors == [1])
        #expect(error.response == nil)
        #expect(error.execution == .answered)
    }

    @Test("with a Feathers error is that error behind a byte order mark too")
    func errorBehindMark() async throws {
        let body = "\u{FEFF}" + #"{"name":"NotFound","message":"No record","code":404}"#
        let error = try await #require(throws: FeathersError.self) {
            try await send(SeamHTTPClient(status: 404, body: body))
        }
        #expect(error.message == "No record" && error.response == nil)
    }

    @Test(
        "that fails in another way keeps status and body",
        arguments: [
            (404, "<html>", "NotFound"), (502, "", "BadGateway"), (431, "", "Error"), (304, "", "Error"),
            (300, "[]", "Error"),
            (500, "null", "GeneralError"),
            (410, "gone", "Gone"), (999, "{", "Error"), (101, "", "Error"),
        ])
    func otherError(status: Int, body: String, name: String) async throws {
        let error = try await #require(throws: FeathersError.self) {
            try await send(SeamHTTPClient(status: status, body: body))
        }
        #expect(error.code.rawValue == status)
        #expect(error.name == name)
        #expect(error.response == FeathersError.Response(status: status, body: Array(body.utf8)))
    }

    @Test("in somebody else's error format loses nothing of it")
    func foreignError() async throws {
        let body = #"{"error":{"reason":"quota"},"message":"Too much"}"#
        let error = try await #require(throws: FeathersError.self) {
            try await send(SeamHTTPClient(status: 429, body: body))
        }
        #expect(error.code == .tooManyRequests)
        #expect(error.message == "Too much")
        #expect(error.data == ["error": ["reason": "quota"]])
        #expect(error.response?.status == 429)
    }

    @Test(
        "that never comes is told in Feathers' words",
        arguments: [
            (.cannotConnect, .unavailable, .neverSent), (.hostNotFound, .unavailable, .neverSent),
            (.tls, .unavailable, .neverSent),
            (.timeout, .timeout, .mayHaveExecuted), (.connectionLost, .unavailable, .mayHaveExecuted),
            (.badResponse, .badGateway, .mayHaveExecuted),
            (.tooManyRedirects, .badGateway, .mayHaveExecuted), (.responseTooLarge, .generalError, .mayHaveExecuted),
            (.invalidURL, .badRequest, .neverSent), (.closed, .unavailable, .mayHaveExecuted),
            (.other, .generalError, .mayHaveExecuted),
        ] as [(HTTPClientError.Kind, FeathersError.Code, FeathersError.Execution)])
    func failure(kind: HTTPClientError.Kind, code: FeathersError.Code, execution: FeathersError.Execution) async throws
    {
        let client = SeamHTTPClient { _ in throw HTTPClientError(kind, "What happened", host: "h:80") }
        let error = try await #require(throws: FeathersError.self) { try await send(client) }
        #expect(error.code == code)
        #expect(error.execution == execution)
        #expect(error.message == "What happened (h:80)")
        #expect((error.cause as? HTTPClientError)?.kind == kind)
    }

    @Test(
        "with a Retry-After says how long to wait, by the server's own clock",
        arguments: [
            (["Retry-After": "120"], .seconds(120)), (["Retry-After": "0"], .zero), ([:], nil),
            (["Retry-After": "soon"], nil),
            (["Retry-After": "-5"], nil), (["Retry-After": "9999999999999"], .seconds(1e9)),
            (["Retry-After": "Wed, 21 Oct 2015 07:28:10 GMT", "Date": "Wed, 21 Oct 2015 07:28:00 GMT"], .seconds(10)),
            (["Retry-After": "Wed, 21 Oct 2015 07:27:00 GMT", "Date": "Wed, 21 Oct 2015 07:28:00 GMT"], .zero),
        ] as [([String: String], Duration?)])
    func retryAfter(_ headers: [String: String], _ delay: Duration?) async throws {
        let client = SeamHTTPClient(
            status: 503, headers: headers.map { ($0.key, $0.value) }, body: #"{"name":"Unavailable","message":"Busy"}"#)
        let error = try await #require(throws: FeathersError.self) { try await send(client) }
        #expect(error.code == .unavailable && error.retryAfter == delay)
    }

    @Test("stays away when cancelled, and the cancellation comes through")
    func cancellation() async throws {
        let client = SeamHTTPClient { _ in throw CancellationError() }
        await #expect(throws: CancellationError.self) { try await send(client) }
    }
}
