import Testing

@testable import FeathersNetworking

@Suite("The opening handshake")
struct WebSocketOpeningTests {
    private static let request = WebSocketOpeningRequest(
        target: "/chat?x=1", host: "example.com:8080",
        fields: [(name: "Sec-WebSocket-Protocol", value: "chat, superchat")],
        key: "dGhlIHNhbXBsZSBub25jZQ=="
    )
    private static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    private static func response(
        _ first: String = "HTTP/1.1 101 Switching Protocols", upgrade: String = "websocket",
        connection: String = "Upgrade",
        accept: String = Self.accept, more: String = ""
    ) -> String {
        "\(first)\r\nUpgrade: \(upgrade)\r\nConnection: \(connection)\r\nSec-WebSocket-Accept: \(accept)\r\n\(more)\r\n"
    }

    @Test("sends the request line, the fields of RFC 6455 and the caller's, in order")
    func request() {
        let request = WebSocketOpeningRequest(
            target: "/a?b", host: "h",
            fields: Self.fields([
                ("X-One", "1"), ("Connection", "close"), ("sec-websocket-KEY", "k"), ("Authorization", "t"),
            ]),
            key: "KEY"
        )
        #expect(
            String(decoding: request.bytes, as: UTF8.self)
                == "GET /a?b HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Key: KEY\r\n"
                + "Sec-WebSocket-Version: 13\r\nX-One: 1\r\nAuthorization: t\r\n\r\n"
        )
        let hosted = WebSocketOpeningRequest(target: "/", host: "h", fields: Self.fields([("Host", "other")]))
        #expect(String(decoding: hosted.bytes, as: UTF8.self).components("Host:") == 1)
    }

    private static func fields(_ fields: [(String, String)]) -> [(name: String, value: String)] {
        fields.map { (name: $0, value: $1) }
    }

    @Test("uses a new key of sixteen bytes each time")
    func keys() {
        let keys = (0..<100).map { _ in WebSocketOpeningRequest.randomKey() }
        #expect(Set(keys).count == 100)
        #expect(keys.allSatisfy { $0.utf8.count == 24 && $0.hasSuffix("==") })
    }

    static let accepted = [
        response(), response("HTTP/1.1 101"), response(upgrade: "WebSocket"),
        response(connection: "keep-alive, Upgrade"),
        response(connection: "upgrade\t"), response(more: "Sec-WebSocket-Protocol: superchat\r\n"),
        response(more: "X-Empty:\r\nX-Latin: \u{e4}\r\n"),
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + response(), "HTTP/1.1 100 Continue\r\n\r\n" + response(),
    ]

    @Test(
        "takes a good answer whole, in any two pieces and byte by byte, and leaves the first frame", arguments: accepted
    )
    func accepts(response: String) throws {
        let bytes = Array(response.utf8) + [0x81, 0x00]
        for pieces in [[1]] + (1...bytes.count).map({ [$0, .max] }) {
            #expect(try Self.feed(bytes, pieces: pieces) == 2)
        }
    }

    static let refused: [(String, WebSocketError.Kind)] = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", .refused(status: 200)),
        ("HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n", .refused(status: 302)),
        ("HTTP/1.1 401 Unauthorized\r\n\r\n", .refused(status: 401)),
        ("HTTP/1.0 503 \r\n\r\n", .refused(status: 503)),
        ("HTTP/1.1 400\r\n\r\n", .refused(status: 400)),
        ("SSH-2.0-OpenSSH", .refused(status: nil)),
        ("HTTP/2 101\r\n\r\n", .refused(status: nil)),
        ("HTTP/1.1 abc\r\n\r\n", .refused(status: nil)),
        ("HTTP/1.1 1010 Odd\r\n\r\n", .refused(status: nil)),
        ("HTTP/1.1 +10 Odd\r\n\r\n", .refused(status: nil)),
        (response(more: "No field\r\n"), .refused(status: nil)),
        (response(more: "Space : x\r\n"), .refused(status: nil)),
        (response(more: " folded\r\n"), .refused(status: nil)),
        (response(more: "X: a\rb\r\n"), .refused(status: nil)),
        (response(more: "X: a\nb\r\n"), .refused(status: nil)),
        (response(upgrade: "h2c"), .protocolViolation),
        (response(upgrade: "websocket, h2c"), .protocolViolation),
        (response(connection: "close"), .protocolViolation),
        (response(accept: "AAAAAAAAAAAAAAAAAAAAAAAAAAA="), .protocolViolation),
        (response(accept: accept.lowercased()), .protocolViolation),
        (response(accept: ""), .protocolViolation),
        (response(more: "Sec-WebSocket-Accept: \(accept)\r\n"), .protocolViolation),
        (response(more: "Sec-WebSocket-Extensions: permessage-deflate\r\n"), .protocolViolation),
        (response(more: "Sec-WebSocket-Protocol: other\r\n"), .protocolViolation),
        (response(more: "Sec-WebSocket-Protocol: chat\r\nSec-WebSocket-Protocol: superchat\r\n"), .protocolViolation),
    ]

    @Test("refuses any other answer, whole or byte by byte", arguments: refused)
    func refuses(response: String, kind: WebSocketError.Kind) {
        for pieces in [[Int.max], [1]] {
            let error = #expect(throws: WebSocketError.self) { try Self.feed(Array(response.utf8), pieces: pieces) }
            #expect(error?.kind == kind)
        }
    }

    @Test("waits for the rest of an answer", arguments: ["", "H", "HTTP/1.1 101", response().dropLast().description])
    func incomplete(response: String) throws {
        #expect(try Self.feed(Array(response.utf8), pieces: [.max]) == nil)
    }

    @Test(
        "gives up on an answer without end",
        arguments: [
            "HTTP/1.1 101 X\r\nA: " + String(repeating: "b", count: 200_000),
            String(repeating: "HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n", count: 5_000),
        ])
    func endless(response: String) {
        let error = #expect(throws: WebSocketError.self) { try Self.feed(Array(response.utf8), pieces: [1000]) }
        #expect(error?.kind == .refused(status: nil))
    }

    /// How many bytes were left after the response; nil where it was not complete.
    @discardableResult
    private static func feed(_ bytes: [UInt8], pieces: [Int]) throws(WebSocketError) -> Int? {
        var opening = WebSocketOpeningResponse(to: request)
        return try bytes.withUnsafeBufferPointer { all throws(WebSocketError) -> Int? in
            var rest = UnsafeRawBufferPointer(all)
            var read = 0
            while !rest.isEmpty {
                var piece = rest.removeFirst(atMost: pieces[min(read, pieces.count - 1)])
                read += 1
                if try opening.received(&piece) { return piece.count + rest.count }
            }
            return nil
        }
    }
}

extension String {
    fileprivate func components(_ separator: String) -> Int {
        split(separator: separator, omittingEmptySubsequences: false).count - 1
    }
}
