/// Parses the server's half of the opening handshake (RFC 6455, section 4.2.2), which may arrive in pieces of any size.
struct WebSocketOpeningResponse {
    /// The maximum size of the response in bytes, including interim responses. A larger one is rejected.
    static let maximumSize = 64 << 10
    private static let start = Array("HTTP/1.".utf8)
    private static let end = Array("\r\n\r\n".utf8)

    private let request: WebSocketOpeningRequest
    private var head: [UInt8] = []
    private var size = 0

    init(to request: WebSocketOpeningRequest) { self.request = request }

    /// Consumes the response from the front of `input`. Returns `true` when the connection is open; the remaining bytes
    /// are then frames.
    /// - Throws: ``WebSocketError`` of kind ``WebSocketError/Kind/refused(status:)`` for any response other than 101,
    ///   or of kind ``WebSocketError/Kind/protocolViolation`` for one that accepts something that wasn't requested.
    mutating func received(_ input: inout UnsafeRawBufferPointer) throws(WebSocketError) -> Bool {
        while !input.isEmpty {
            head.append(contentsOf: input.removeFirst(atMost: 1))
            size += 1
            if head.count <= Self.start.count {
                // The greeting of another protocol may have no end to wait for.
                guard head[head.count - 1] == Self.start[head.count - 1] else { throw .noHTTP }
            }
            guard size <= Self.maximumSize else {
                throw WebSocketError(
                    .refused(status: nil), "The response to the opening handshake exceeds \(Self.maximumSize) bytes")
            }
            guard head.last == Self.end.last, head.suffix(Self.end.count).elementsEqual(Self.end) else { continue }
            guard let response = HTTPResponseHead(String(decoding: head.dropLast(Self.end.count), as: UTF8.self)) else {
                throw .noHTTP
            }
            head = []
            // Interim responses (100, 103) precede the final one.
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
            throw WebSocketError(
                .refused(status: response.status), "The server refused the WebSocket: \(response.status)\(reason)")
        }
        guard response.list("upgrade").map({ $0.lowercased() }) == ["websocket"] else {
            throw .violation("no Upgrade: websocket")
        }
        guard response.list("connection").contains(where: { $0.lowercased() == "upgrade" }) else {
            throw .violation("no Connection: Upgrade")
        }
        guard response.fields.filter({ $0.name == "sec-websocket-accept" }).map(\.value) == [request.expectedAccept]
        else {
            throw .violation("the wrong Sec-WebSocket-Accept")
        }
        guard response.list("sec-websocket-extensions").isEmpty else {
            throw .violation("an extension that was not requested")
        }
        let chosen = response.list("sec-websocket-protocol")
        guard chosen.count <= 1, chosen.allSatisfy(request.subprotocols.contains) else {
            throw .violation("a subprotocol that was not requested")
        }
    }
}

extension WebSocketError {
    fileprivate static var noHTTP: WebSocketError {
        WebSocketError(.refused(status: nil), "The server's response to the opening handshake isn't HTTP/1.1")
    }

    fileprivate static func violation(_ what: String) -> WebSocketError {
        WebSocketError(.protocolViolation, "The server's response to the opening handshake has \(what)")
    }
}

/// The status line and fields of an HTTP/1 response, to the extent that the opening handshake needs them (RFC 9112).
struct HTTPResponseHead {
    var status: Int
    var reason: String
    var fields: [HTTPHeaders.Field]

    /// Parses a head without its empty last line. Returns nil if it isn't an HTTP/1 response.
    init?(_ text: String) {
        // Splits by Unicode scalars: "\r\n" is a single Character, which must not hide within a line.
        let lines = text.unicodeScalars.split(separator: "\r\n".unicodeScalars).map(Substring.init)
        guard let first = lines.first, first.hasPrefix("HTTP/1.") else { return nil }
        let words = first.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count >= 2, words[0].utf8.count == 8, words[1].utf8.count == 3 else { return nil }
        guard let status = Int(words[1]), status >= 100 else { return nil }
        self.status = status
        reason = words.count == 3 ? String(words[2]) : ""
        fields = []
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), HTTPFieldSyntax.isToken(String(line[..<colon])) else {
                return nil
            }
            let value = String(line[line.index(after: colon)...].trimmedOfBlanks)
            guard HTTPFieldSyntax.isFieldValue(value) else { return nil }
            fields.append((name: line[..<colon].lowercased(), value: value))
        }
    }

    func list(_ name: String) -> [String] { fields.filter { $0.name == name }.flatMap { $0.value.listElements } }
}
