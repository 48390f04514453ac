import FeathersCore
import FeathersNetworking
import FeathersREST
import Foundation
import Testing

/// An HTTP response that FeathersJS did not send.
struct ForeignResponse: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let status: Int
    var type: String? = "text/html; charset=utf-8"
    var location: String?
    var body = "<!DOCTYPE html><title>Free Wi-Fi</title>s3cret"
    /// Where redirects led to.
    var url: String?

    func response(to request: HTTPRequest) throws -> HTTPResponse {
        var fields: [HTTPHeaders.Field] = []
        if let type { fields.append(("Content-Type", type)) }
        if let location { fields.append(("Location", location)) }
        return HTTPResponse(
            status: status, headers: HTTPHeaders(received: fields), body: Array(body.utf8),
            url: try #require(URL(string: url ?? request.url.absoluteString)))
    }

    static let portals: [Self] = [
        .init(testDescription: "200 with HTML", status: 200),
        .init(testDescription: "200 with HTML without a type", status: 200, type: nil),
        .init(testDescription: "201 with text", status: 201, type: "text/plain", body: "Welcome"),
        .init(testDescription: "200 with HTML as JSON", status: 200, type: "application/json"),
        .init(testDescription: "302 that was not followed", status: 302, location: "http://portal.test/"),
        .init(testDescription: "307 without a location", status: 307, body: ""),
        .init(testDescription: "302 to a page", status: 200, url: "http://portal.test/login?token=s3cret"),
        .init(testDescription: "302 to an empty page", status: 200, body: "", url: "http://portal.test/"),
        .init(testDescription: "307 to a page that refuses", status: 405, url: "http://portal.test/"),
        .init(testDescription: "302 to no page", status: 404, url: "http://portal.test/"),
        .init(testDescription: "511 with HTML", status: 511), .init(testDescription: "511", status: 511, body: ""),
        .init(
            testDescription: "511 with JSON", status: 511, type: "application/json", body: #"{"error":"sign in"}"#),
    ]

    static let others: [Self] = [
        .init(testDescription: "a proxy's 502", status: 502), .init(testDescription: "a proxy's 503", status: 503),
        .init(testDescription: "a proxy's 504", status: 504),
        .init(testDescription: "a proxy's 503 elsewhere", status: 503, url: "http://other.test/"),
        .init(testDescription: "no page", status: 404), .init(testDescription: "a proxy's limit", status: 413),
    ]
}

@Suite("A response that is not FeathersJS'")
struct PortalTests {
    private func app(_ response: ForeignResponse) throws -> FeathersApp {
        let client = SeamHTTPClient { try response.response(to: $0) }
        return FeathersApp(transport: .rest(try #require(URL(string: "http://h")), httpClient: client))
    }

    @Test("of a captive portal tells nothing about the call", arguments: ForeignResponse.portals)
    func portals(_ portal: ForeignResponse) async throws {
        let notes = try app(portal).service("notes")
        // Without a key, as in an outbox without 'Idempotency-Key'.
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await notes.create(["text": "a"]) }, { _ = try await notes.patch(1, with: ["text": "a"]) },
            { _ = try await notes.remove(1) }, { _ = try await notes.find() }, { _ = try await notes.get(1) },
        ]
        for call in calls {
            let error = try await #require(throws: FeathersError.self) { try await call() }
            #expect(error.code == .unavailable && error.name == "Unavailable")
            #expect(error.execution == .mayHaveExecuted)
            #expect(error.response == FeathersError.Response(status: portal.status, body: Array(portal.body.utf8)))
            #expect(!"\(error)".contains("s3cret"))
        }
    }

    @Test("but a proxy's error or a wrong path stays that error", arguments: ForeignResponse.others)
    func proxies(_ response: ForeignResponse) async throws {
        let error = try await #require(throws: FeathersError.self) {
            try await app(response).service("notes").create(["text": "a"])
        }
        #expect(error.code.rawValue == response.status && error.execution == .answered)
    }

    @Test("says that the network may require a sign-in if it is a page")
    func hint() async throws {
        let page = ForeignResponse(testDescription: "", status: 200)
        let text = ForeignResponse(testDescription: "", status: 200, type: "text/plain", body: "Welcome")
        for (response, isPage) in [(page, true), (text, false)] {
            let error = try await #require(throws: FeathersError.self) {
                try await app(response).service("notes").find()
            }
            #expect("\(error)".contains("the network may require a sign-in") == isPage)
        }
        let moved = ForeignResponse(testDescription: "", status: 404, url: "http://portal.test/s3cret")
        let error = try await #require(throws: FeathersError.self) { try await app(moved).service("notes").find() }
        #expect(error.message == "The server redirected from h to portal.test, which returned status 404 without JSON")
    }

    @Test("JSON from another host, and errors in FeathersJS' format, stay as they are")
    func json() async throws {
        var json = ForeignResponse(testDescription: "", status: 200, type: "application/json", body: #"{"id":1}"#)
        json.url = "https://www.h/notes/1"
        #expect(try await app(json).service("notes").get(1) == ["id": 1])
        let empty = ForeignResponse(testDescription: "", status: 204, type: nil, body: "", url: "https://www.h/notes/1")
        #expect(try await app(empty).service("notes").remove(1) == nil)
        let body = #"{"name":"NotFound","message":"No record","code":404}"#
        let refusal = ForeignResponse(testDescription: "", status: 404, body: body, url: "https://www.h/notes/1")
        let refused = try await #require(throws: FeathersError.self) { try await app(refusal).service("notes").get(1) }
        #expect(refused.code == .notFound && refused.execution == .answered)
        let custom = ForeignResponse(
            testDescription: "", status: 511, body: #"{"name":"GeneralError","message":"No","code":511}"#)
        let error = try await #require(throws: FeathersError.self) { try await app(custom).service("notes").get(1) }
        #expect(error.code.rawValue == 511 && error.execution == .answered)
    }
}
