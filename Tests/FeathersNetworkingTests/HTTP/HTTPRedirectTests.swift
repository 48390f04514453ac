import FeathersNetworking
import Foundation
import Testing

@Suite("A redirect")
struct HTTPRedirectTests {
    private func follow(
        _ status: Int, _ method: String = "POST", from: String = "http://a/x/y?q", to location: String?,
        redirects: HTTPRedirectPolicy = .follow(maximum: 20)
    ) throws
        -> HTTPRequest?
    {
        var headers = HTTPHeaders()
        for name in ["Authorization", "Cookie", "Proxy-Authorization", "Content-Type", "X-Kept", "X-Service-Method"] {
            try headers.set(name, to: "v")
        }
        let url = try #require(URL(string: from))
        let request = HTTPRequest(
            method: method, url: url, headers: headers, body: [1], timeout: .seconds(1), redirects: redirects)
        let fields = location.map { [("location", $0)] } ?? []
        let response = HTTPResponse(
            status: status, headers: HTTPHeaders(received: fields.map { ($0.0, $0.1) }), url: url)
        return try HTTPRedirect.request(after: response, to: request)
    }

    @Test(
        "continues with this method and body",
        arguments: [
            (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (303, "DELETE", "GET"),
            (303, "PUT", "GET"),
            (303, "HEAD", "HEAD"),
            (303, "GET", "GET"), (301, "PUT", "PUT"), (302, "PATCH", "PATCH"), (302, "GET", "GET"),
            (307, "POST", "POST"),
            (308, "DELETE", "DELETE"),
        ])
    func method(status: Int, method: String, expected: String) throws {
        let next = try #require(try follow(status, method, to: "/z"))
        #expect(next.method == expected)
        let isDropped = expected == "GET" && method != "GET"
        #expect(next.body == (isDropped ? nil : [1]))
        #expect((next.headers["Content-Type"] == nil) == isDropped)
        #expect(next.headers["X-Kept"] == "v")
        #expect(next.timeout == .seconds(1))
    }

    @Test(
        "that changes the method is refused if the request says so",
        arguments: [(301, "POST"), (302, "POST"), (303, "POST"), (303, "PUT"), (303, "PATCH"), (303, "DELETE")])
    func sameMethod(status: Int, method: String) throws {
        let policy = HTTPRedirectPolicy.followSameMethod(maximum: 5)
        let error = try #require(throws: HTTPClientError.self) {
            try follow(status, method, to: "/z?s3cret", redirects: policy)
        }
        #expect(error.kind == .methodChanged && error.delivery == .mayHaveExecuted)
        #expect(error.message.contains("redirected \(method) to http://a/z with status \(status)"))
        #expect(!"\(error)".contains("s3cret"))
        for kept in [307, 308] {
            #expect(try follow(kept, method, to: "/z", redirects: policy)?.method == method)
        }
        for read in ["GET", "HEAD"] {
            #expect(try follow(status, read, to: "/z", redirects: policy)?.method == read)
        }
    }

    @Test("to another origin and back marks the request, which has lost what tells who asks")
    func lostFields() throws {
        let away = try #require(try follow(307, to: "http://b/z"))
        #expect(away.hasLostFields)
        let response = HTTPResponse(
            status: 307, headers: HTTPHeaders(received: [("Location", "http://a/x")]), url: away.url)
        let back = try #require(try HTTPRedirect.request(after: response, to: away))
        #expect(back.hasLostFields && back.headers["Authorization"] == nil)
        #expect(try follow(307, to: "/z")?.hasLostFields == false)
    }

    @Test(
        "leads to this URL",
        arguments: [
            ("/z?x=%C3%BC", "http://a/z?x=%C3%BC"), ("z", "http://a/x/z"), ("//b/z", "http://b/z"),
            ("https://b:1/", "https://b:1/"),
            ("?r", "http://a/x/y?r"), ("/ü b", "http://a/%C3%BC%20b"), ("../../../z", "http://a/z"),
        ])
    func target(location: String, expected: String) throws {
        #expect(try follow(302, to: location)?.url.absoluteString == expected)
    }

    @Test(
        "takes along what may tell who asks only within the origin",
        arguments: [
            ("http://a/x", "/z", true), ("http://a/x", "http://a:80/z", true), ("https://a/x", "https://A:443/z", true),
            ("http://a/x", "https://a/z", false), ("http://a/x", "http://a:81/z", false),
            ("http://a/x", "http://b.a/z", false),
            ("http://a/x", "//b/z", false), ("http://a/x", "http://a@b/z", false),
        ])
    func credentials(from: String, location: String, kept: Bool) throws {
        let next = try #require(try follow(307, from: from, to: location))
        for name in ["Authorization", "Cookie", "Proxy-Authorization", "X-Kept"] {
            #expect((next.headers[name] != nil) == kept, "\(name)")
        }
        #expect(next.headers["Content-Type"] == "v" && next.headers["X-Service-Method"] == "v")
    }

    @Test(
        "is none without a Location or with another status",
        arguments: [(302, nil), (200, "/z"), (300, "/z"), (304, "/z"), (201, "/z"), (404, "/z")])
    func none(status: Int, location: String?) throws {
        #expect(try follow(status, to: location)?.url == nil)
    }

    @Test(
        "to anything but http and https is refused",
        arguments: ["file:///etc/passwd", "ftp://a/", "javascript:1", "http://", "http://[bad", "data:,x", ""])
    func refused(location: String) throws {
        let error = try #require(throws: HTTPClientError.self) { try follow(302, to: location) }
        #expect(error.kind == .invalidRedirect)
        #expect(error.delivery == .mayHaveExecuted)
    }

    @Test(
        "from https to http is refused, by scheme and host",
        arguments: [
            ("https://a/x/y?q", "http://a/z", "https://a", "http://a"),
            (
                "https://ann:s3cret@a:8443/s3cret", "http://bob:s3cret@b:80/s3cret?s3cret#s3cret", "https://a:8443",
                "http://b"
            ),
            ("HTTPS://a/x", "HTTP://A:443/s3cret", "https://a", "http://a:443"),
        ], [301, 302, 303, 307, 308])
    func insecure(case: (from: String, location: String, secure: String, plain: String), status: Int) throws {
        let (from, location, secure, plain) = `case`
        let error = try #require(throws: HTTPClientError.self) { try follow(status, from: from, to: location) }
        #expect(error.kind == .invalidRedirect)
        #expect(error.message == "The server redirected from \(secure) to \(plain), which is not encrypted")
        #expect(error.delivery == .mayHaveExecuted)
    }
}
