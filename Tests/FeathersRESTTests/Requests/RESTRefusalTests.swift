import FeathersCore
import FeathersNetworking
import FeathersREST
import Foundation
import Testing

@Suite("What REST cannot carry is refused before it is sent")
struct RESTRefusalTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var name: String
        var request: ServiceRequest
        var mention: String
        var testDescription: String { name }
    }

    @Test(
        "and the error names it:",
        arguments: [
            Case(
                name: "no id for get", request: .init(path: "m", method: .get),
                mention: "id for 'get' can not be undefined"),
            Case(name: "an empty id", request: .init(path: "m", method: .get, id: ""), mention: "The id is empty"),
            Case(
                name: "the id .", request: .init(path: "m", method: .patch, id: ".", data: [:]),
                mention: "The id is '.'"),
            Case(name: "the id ..", request: .init(path: "m", method: .remove, id: ".."), mention: "The id is '..'"),
            Case(
                name: "the id NaN", request: .init(path: "m", method: .get, id: .number(.nan)),
                mention: "not a finite number"),
            Case(
                name: "no route value",
                request: .init(path: "a/:team/:b", method: .find, params: .init(route: ["b": "1"])),
                mention: ":team"),
            Case(
                name: "an empty route value",
                request: .init(path: ":t", method: .find, params: .init(route: ["t": ""])), mention: ":t"),
            Case(
                name: "the route value ..",
                request: .init(path: ":t", method: .find, params: .init(route: ["t": ".."])), mention: ":t"),
            Case(
                name: "a route value with a slash",
                request: .init(path: ":t/x", method: .find, params: .init(route: ["t": "a/b"])), mention: "slash"),
            Case(
                name: "a route value with an encoded slash",
                request: .init(path: ":t/x", method: .find, params: .init(route: ["t": "a%2fb"])), mention: "slash"),
            Case(
                name: "a route value with encoded dots",
                request: .init(path: ":t/x", method: .find, params: .init(route: ["t": "%2e."])), mention: "'..'"),
            Case(
                name: "a route value with a backslash",
                request: .init(path: ":t/x", method: .find, params: .init(route: ["t": "a\\b"])), mention: "backslash"),
            Case(
                name: "a route value with a line break",
                request: .init(path: ":t/x", method: .find, params: .init(route: ["t": "a\nb"])),
                mention: "control character"),
            Case(name: "a path that climbs", request: .init(path: "a/../b", method: .find), mention: "a/../b"),
            Case(
                name: "a path that climbs before a slash with an accent",
                request: .init(path: "../\u{301}b", method: .find),
                mention: "'..'"),
            Case(
                name: "a path that climbs with encoded dots", request: .init(path: "a/%2e%2e/b", method: .find),
                mention: "'a/%2e%2e/b' is '..'"),
            Case(
                name: "a path that climbs with one dot encoded", request: .init(path: "a/.%2E/b", method: .find),
                mention: "'..'"),
            Case(
                name: "a path that climbs with the other one", request: .init(path: "a/%2E./b", method: .find),
                mention: "'..'"),
            Case(
                name: "a path that stays with an encoded dot", request: .init(path: "a/%2e/b", method: .find),
                mention: "'.'"),
            Case(name: "no path", request: .init(path: "//", method: .find), mention: "path is empty"),
            Case(
                name: "an empty array in the query",
                request: .init(path: "m", method: .find, params: .init(query: ["a": []])),
                mention: "'a'"),
            Case(
                name: "NaN in the data", request: .init(path: "m", method: .create, data: .number(.nan)), mention: "NaN"
            ),
            Case(
                name: "a line break in a header",
                request: .init(path: "m", method: .find, params: .init(headers: ["X-A": "1\r\nX-B: 2"])),
                mention: "X-A"),
            Case(
                name: "a NUL in a header",
                request: .init(path: "m", method: .find, params: .init(headers: ["X-A": "1\0"])), mention: "X-A"),
            Case(
                name: "a header name with a space",
                request: .init(path: "m", method: .find, params: .init(headers: ["X A": "1"])),
                mention: "X A"),
            Case(
                name: "a header name with a line break",
                request: .init(path: "m", method: .find, params: .init(headers: ["A\r\nB": "1"])),
                mention: #""A\r\nB""#),
            Case(
                name: "an empty header name",
                request: .init(path: "m", method: .find, params: .init(headers: ["": "1"])), mention: #""""#),
            Case(
                name: "a Content-Length of the caller's",
                request: .init(path: "m", method: .find, params: .init(headers: ["content-length": "5"])),
                mention: "content-length"),
            Case(
                name: "a method name with a line break", request: .init(path: "m", method: "a\nb"),
                mention: "X-Service-Method"),
        ] as [Case])
    func refused(_ refused: Case) async throws {
        let client = SeamHTTPClient(status: 204)
        let transport = RESTTransport(try #require(URL(string: "http://h")), httpClient: client)
        let error = try await #require(throws: FeathersError.self) { try await transport.send(refused.request) }
        #expect(error.code == .badRequest)
        #expect(error.execution == .neverSent)
        #expect(error.message.contains(refused.mention), "\(error.message)")
        #expect(!error.message.contains("X-B"), "A header's value must not be told")
        #expect(client.requests.isEmpty)
    }

    @Test("but dots that are part of a name are not", arguments: ["a/%2e%2e%2e", "a/..b", "a/%2eb", "a/b%2E"])
    func namesWithDots(path: String) async throws {
        let client = SeamHTTPClient(status: 204)
        _ = try await RESTTransport(try #require(URL(string: "http://h")), httpClient: client).send(
            ServiceRequest(path: path, method: .find))
        #expect(client.requests.map(\.url.absoluteString) == ["http://h/" + path])
    }

    @Test(
        "and so is a base URL that cannot be one:",
        arguments: [
            "ftp://h", "http:///x", "h/x", "http://h?a=1", "http://h#f", "http://h:99999", "ftp://bob:s3cret@h",
            "bob:s3cret@h",
            "ftp://h?key=s3cret", "h/x?key=s3cret#s3cret", "http://h?key=s3cret", "http://h:99999?key=s3cret",
        ])
    func base(text: String) async throws {
        let client = SeamHTTPClient(status: 204)
        let transport = RESTTransport(try #require(URL(string: text)), httpClient: client)
        let error = try await #require(throws: FeathersError.self) {
            try await transport.send(ServiceRequest(path: "m", method: .find))
        }
        #expect(error.code == .badRequest)
        #expect(error.execution == .neverSent)
        #expect(!error.message.contains("s3cret"))
        #expect(client.requests.isEmpty)
    }
}
