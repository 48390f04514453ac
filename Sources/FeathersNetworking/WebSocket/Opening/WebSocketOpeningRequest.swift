/// The client's half of the opening handshake (RFC 6455, section 4.1).
struct WebSocketOpeningRequest {
    /// Fields the handshake sets itself: one given by the caller is left out.
    private static let ownFields: Set = [
        "connection", "upgrade", "sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions", "sec-websocket-accept",
    ]

    /// Sixteen random bytes in base64, new for every handshake.
    let key: String
    /// What was offered in `Sec-WebSocket-Protocol`.
    let subprotocols: [String]
    let bytes: [UInt8]

    /// - Parameters:
    ///   - target: path and query, percent-encoded.
    ///   - host: host and explicit port; a `Host` among the fields takes its place.
    ///   - fields: checked before for line breaks and the like.
    init(target: String, host: String, fields: some Sequence<(name: String, value: String)>, key: String = Self.randomKey()) {
        let fields = fields.filter { !Self.ownFields.contains($0.name.lowercased()) }
        var text = "GET \(target) HTTP/1.1\r\n"
        if !fields.contains(where: { $0.name.lowercased() == "host" }) {
            text += "Host: \(host)\r\n"
        }
        text += "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: \(key)\r\nSec-WebSocket-Version: 13\r\n"
        for field in fields {
            text += "\(field.name): \(field.value)\r\n"
        }
        self.key = key
        subprotocols = fields.filter { $0.name.lowercased() == "sec-websocket-protocol" }.flatMap { $0.value.listElements }
        bytes = Array((text + "\r\n").utf8)
    }

    /// What a server that understood the request answers in `Sec-WebSocket-Accept`.
    var expectedAccept: String {
        Base64.encoded(SHA1.digest((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))
    }

    static func randomKey() -> String {
        var source = SystemRandomNumberGenerator()
        return Base64.encoded((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &source) })
    }
}

extension String {
    /// The elements of a comma-separated list (RFC 9110, section 5.6.1).
    var listElements: [String] {
        split(separator: ",").map { String($0.trimmedOfBlanks) }.filter { !$0.isEmpty }
    }
}

extension Substring {
    /// Without the blanks and tabs around it.
    var trimmedOfBlanks: Substring {
        var text = self
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
