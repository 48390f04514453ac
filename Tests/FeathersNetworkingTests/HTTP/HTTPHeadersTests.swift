import FeathersNetworking
import Testing

@Suite("HTTP headers")
struct HTTPHeadersTests {
    @Test("keep their order and compare names without regard to case")
    func order() throws {
        var headers = HTTPHeaders()
        try headers.set("Accept", to: "a")
        try headers.set("X-Other", to: "b")
        try headers.set("ACCEPT", to: "c")
        #expect(headers.map { "\($0.name)=\($0.value)" } == ["ACCEPT=c", "X-Other=b"])
        #expect(headers["accept"] == "c")
        headers.remove("aCCept")
        #expect(headers.map(\.name) == ["X-Other"])
    }

    @Test("leave one field when set over several received ones")
    func replacing() throws {
        var headers = HTTPHeaders(received: [("a", "1"), ("b", "2"), ("A", "3")])
        try headers.set("A", to: "4")
        #expect(headers.map { "\($0.name)=\($0.value)" } == ["A=4", "b=2"])
    }

    @Test(
        "take any token as name and any text as value",
        arguments: [("X-A", "plain"), ("!#$%&'*+-.^_`|~09az", "\ttab"), ("x", ""), ("x", "ü😀")])
    func allowed(name: String, value: String) throws {
        var headers = HTTPHeaders()
        try headers.set(name, to: value)
        #expect(headers[name] == value)
    }

    @Test(
        "refuse what could smuggle in another field",
        arguments: [
            ("", "v"), ("X A", "v"), ("X:A", "v"), ("X\r\nA", "v"), ("Xü", "v"), ("X\0", "v"), ("X(", "v"),
            ("X-A", "secret\r\nB: 1"),
            ("X-A", "secret\n"),
            ("X-A", "secret\r"), ("X-A", "secret\0"), ("X-A", "secret\u{7F}"), ("X-A", "secret\u{1B}[0m"),
            ("Content-Length", "1"),
            ("transfer-encoding", "chunked"),
        ])
    func refused(name: String, value: String) throws {
        var headers = HTTPHeaders()
        let error = try #require(throws: HTTPClientError.self) { try headers.set(name, to: value) }
        #expect(error.kind == .invalidHeader)
        #expect(error.delivery == .neverSent)
        #expect(!error.description.contains("secret"))
        #expect(!error.description.utf8.contains { $0 < 0x20 })
        #expect(headers.isEmpty)
    }

    @Test("never print their values")
    func description() throws {
        var headers = HTTPHeaders()
        try headers.set("Authorization", to: "secret")
        var dumped = ""
        dump(headers, to: &dumped)
        #expect(headers.description == "[Authorization]" && String(reflecting: headers) == "[Authorization]")
        #expect(dumped.contains("[Authorization]") && !dumped.contains("secret"))
    }
}
