import FeathersSupport
import Foundation
import Testing

@Suite("Origins")
struct OriginTests {
    @Test(
        "The same server, however it is written",
        arguments: [
            ("https://example.com", "https://example.com/v1?a=1#f"), ("https://example.com", "HTTPS://Example.COM"),
            ("https://example.com", "https://example.com:443"), ("http://example.com", "http://example.com:80/"),
            ("https://example.com", "wss://example.com"), ("http://example.com:3030", "ws://example.com:3030"),
            ("https://example.com", "https://user:password@example.com"), ("http://[::1]:80", "http://[::1]"),
        ])
    func same(_ left: String, _ right: String) throws {
        let (left, right) = (try #require(URL(string: left)), try #require(URL(string: right)))
        #expect(Origin(left) != nil)
        #expect(Origin(left) == Origin(right))
    }

    @Test(
        "Other servers",
        arguments: [
            "http://example.com", "https://example.com:8443", "https://example.com:80", "https://www.example.com",
            "https://example.com.evil",
            "https://example.com@evil", "ws://example.com", "https://example.co",
        ])
    func other(_ text: String) throws {
        let (own, other) = (try #require(URL(string: "https://example.com")), try #require(URL(string: text)))
        #expect(Origin(other) != nil)
        #expect(Origin(own) != Origin(other))
    }

    @Test(
        "What leads to no server has no origin",
        arguments: ["example.com", "/x", "http:///x", "ftp://example.com", "file:///x", "mailto:bob@example.com"])
    func none(_ text: String) throws {
        let url = try #require(URL(string: text))
        #expect(Origin(url) == nil)
    }
}
