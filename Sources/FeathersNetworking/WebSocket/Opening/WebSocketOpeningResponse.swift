/// Reads the server's half of the opening handshake (RFC 6455, section 4.2.2), in whatever pieces it arrives.
struct WebSocketOpeningResponse {
    /// An answer that grows beyond this, interim responses included, is refused, in bytes.
    static let maximumSize = 64 << 10
    private static let start = Array("HTTP/1.".utf8)
    private static let end = Array("\r\n\r\n".utf8)

    private let request: WebSocketOpeningRequest
    private var head: [UInt8] = []
    private var size = 0

    init(to request: WebSocketOpeningRequest) { self.request = request }

    /// Takes what belongs to the response off the front of `input`; true once the connection is open. What is left then are frames already.
    /// - Throws: ``WebSocketError`` of kind ``WebSocketError/Kind/refused(status:)`` for any other answer than 101,
    ///   ``WebSocketError/Kind/protocolViolation`` for one that accepts something else than was asked for.
    mutating func received(_ input: inout UnsafeRawBufferPointer) throws(WebSocketError) -> Bool {
        while !input.isEmpty {
            head.append(contentsOf: input.removeFirst(atMost: 1))
            size += 1
            if head.count <= Self.start.count {
                // Another protocol's greeting may have no end to wait for.
                guard head[head.count - 1] == Self.start[head.count - 1] else { throw .noHTTP }
            }
            guard size <= Self.maximumSize else {
                throw WebSocketError(.refused(status: nil), "The answer to the opening handshake is longer than \(Self.maximumSize) bytes")
            }
            guard head.last == Self.end.last, head.suffix(Self.end.count).elementsEqual(Self.end) else { continue }
            guard let response = HTTPResponseHead(String(decoding: head.dropLast(Self.end.count), as: UTF8.self)) else { throw .noHTTP }
            head = []
            // Interim responses (100, 103) precede the real one.
            if response.status == 101 || response.status >= 200 {
                try check(response)
                return true
            }
        }
        return false
    }

    private func check(_ response: HTTPResponseHead) throws(WebSocketError) {
        guard response.status == 101 else {
            let reason = response.reason.isEmpty ? "" : " " + response.reason.prefix(80)
            throw WebSocketError(.refused(status: response.status), "The server refused the WebSocket: \(response.status)\(reason)")
        }
        guard response.list("upgrade").map({ $0.lowercased() }) == ["websocket"] else { throw .violation("no Upgrade: websocket") }
        guard response.list("connection").contains(where: { $0.lowercased() == "upgrade" }) else {
            throw .violation("no Connection: Upgrade")
        }
        guard response.fields.filter({ $0.name == "sec-websocket-accept" }).map(\.value) == [request.expectedAccept] else {
            throw .violation("the wrong Sec-WebSocket-Accept")
        }
        guard response.list("sec-websocket-extensions").isEmpty else { throw .violation("an extension nobody asked for") }
        let chosen = response.list("sec-websocket-protocol")
        guard chosen.count <= 1, chosen.allSatisfy(request.subprotocols.contains) else {
            throw .violation("a subprotocol nobody asked for")
        }
    }
}

extension WebSocketError {
    fileprivate static var noHTTP: WebSocketError {
        WebSocketError(.refused(status: nil), "The server's answer to the opening handshake is no HTTP/1.1")
    }

    fileprivate static func violation(_ what: String) -> WebSocketError {
        WebSocketError(.protocolViolation, "The server's answer to the opening handshake has \(what)")
    }
}

/// Status line and fields of an HTTP/1 response: the part that the opening handshake needs (RFC 9112).
struct HTTPResponseHead {
    var status: Int
    var reason: String
    var fields: [HTTPHeaders.Field]

    /// Reads a head without its empty last line; nil where it is not an HTTP/1 response.
    init?(_ text: String) {
        // One scalar at a time: "\r\n" is a single Character, which must not hide in a line.
        let lines = text.unicodeScalars.split(separator: "\r\n".unicodeScalars).map(Substring.init)
        guard let first = lines.first, first.hasPrefix("HTTP/1.") else { return nil }
        let words = first.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count >= 2, words[0].utf8.count == 8, words[1].utf8.count == 3 else { return nil }
        guard let status = Int(words[1]), status >= 100 else { return nil }
        self.status = status
        reason = words.count == 3 ? String(words[2]) : ""
        fields = []
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), HTTPFieldSyntax.isToken(String(line[..<colon])) else { return nil }
            let value = String(line[line.index(after: colon)...].trimmedOfBlanks)
            guard HTTPFieldSyntax.isFieldValue(value) else { return nil }
            fields.append((name: line[..<colon].lowercased(), value: value))
        }
    }

    func list(_ name: String) -> [String] { fields.filter { $0.name == name }.flatMap { $0.value.listElements } }
}
