import Foundation

/// The parts of a WebSocket's URL that are needed to connect.
struct WebSocketTarget: Sendable {
    var isSecure: Bool
    /// The host and explicit port, as in a `Host` field: an IPv6 address in brackets, a name in ASCII.
    var host: String
    var target: String
    /// The URL's user and password, encoded for `Authorization`.
    private var credentials: String?

    /// - Throws: ``WebSocketError/Kind/invalidURL`` without a host, or with a scheme other than `ws`, `wss`, `http`, or
    ///   `https`.
    init(_ url: URL) throws(WebSocketError) {
        switch url.scheme?.lowercased() {
        case "ws", "http": isSecure = false
        case "wss", "https": isSecure = true
        default: throw WebSocketError(.invalidURL, "The URL isn't a ws or wss URL")
        }
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true), let name = parts.encodedHost,
            !name.isEmpty
        else {
            throw WebSocketError(.invalidURL, "The URL has no host")
        }
        guard parts.port.map((1...65535).contains) ?? true else {
            throw WebSocketError(.invalidURL, "The URL's port is invalid")
        }
        let bracketed = name.contains(":") && !name.hasPrefix("[") ? "[\(name)]" : name
        host = parts.port.map { "\(bracketed):\($0)" } ?? bracketed
        let path = parts.percentEncodedPath
        target = (path.isEmpty ? "/" : path) + (parts.percentEncodedQuery.map { "?" + $0 } ?? "")
        credentials = parts.user.map { Data("\($0):\(parts.password ?? "")".utf8).base64EncodedString() }
    }

    var curlURL: String { "\(isSecure ? "https" : "http")://\(host)/" }

    func openingRequest(_ headers: HTTPHeaders) -> WebSocketOpeningRequest {
        var fields = Array(headers)
        if let credentials, headers["Authorization"] == nil {
            fields.append((name: "Authorization", value: "Basic \(credentials)"))
        }
        return WebSocketOpeningRequest(target: target, host: host, fields: fields)
    }
}

/// The client's half of the opening handshake (RFC 6455, section 4.1).
struct WebSocketOpeningRequest {
    /// The fields that the handshake sets itself. The caller's values for them are ignored.
    private static let ownFields: Set = [
        "connection", "upgrade", "sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions",
        "sec-websocket-accept",
    ]

    /// Sixteen random bytes in Base64, new for every handshake.
    let key: String
    let subprotocols: [String]
    let bytes: [UInt8]

    /// Creates the request. `host` includes the explicit port. `fields` are already checked for characters such as line
    /// breaks; a `Host` among them takes precedence.
    init(
        target: String, host: String, fields: some Sequence<(name: String, value: String)>,
        key: String = Self.randomKey()
    ) {
        let fields = fields.filter { !Self.ownFields.contains($0.name.lowercased()) }
        var text = "GET \(target) HTTP/1.1\r\n"
        if !fields.contains(where: { $0.name.lowercased() == "host" }) { text += "Host: \(host)\r\n" }
        text +=
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: \(key)\r\nSec-WebSocket-Version: 13\r\n"
        for field in fields { text += "\(field.name): \(field.value)\r\n" }
        self.key = key
        subprotocols = fields.filter { $0.name.lowercased() == "sec-websocket-protocol" }.flatMap {
            $0.value.listElements
        }
        bytes = Array((text + "\r\n").utf8)
    }

    /// The value of `Sec-WebSocket-Accept` from a server that understood the request.
    var expectedAccept: String {
        Data(SHA1.digest((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)).base64EncodedString()
    }

    static func randomKey() -> String {
        var source = SystemRandomNumberGenerator()
        return Data((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &source) }).base64EncodedString()
    }
}

extension String {
    /// The elements of a comma-separated list (RFC 9110, section 5.6.1).
    var listElements: [String] { split(separator: ",").map { String($0.trimmedOfBlanks) }.filter { !$0.isEmpty } }
}

extension Substring {
    var trimmedOfBlanks: Substring {
        var text = self
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}

/// SHA-1 (RFC 3174), which the opening handshake uses to recognize a WebSocket server. It protects no secrets.
enum SHA1 {
    static func digest(_ input: some Collection<UInt8>) -> [UInt8] {
        var padded = Array(input)
        padded.append(0x80)
        padded.append(contentsOf: repeatElement(0, count: (120 - padded.count % 64) % 64))
        withUnsafeBytes(of: UInt64(input.count * 8).bigEndian) { padded.append(contentsOf: $0) }

        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        for block in stride(from: 0, to: padded.count, by: 64) { add(padded[block..<(block + 64)], to: &state) }
        return state.flatMap { word in withUnsafeBytes(of: word.bigEndian, Array.init) }
    }

    private static func add(_ block: ArraySlice<UInt8>, to state: inout [UInt32]) {
        var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { index in
            block[index..<(index + 4)].reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
        }
        for index in 16..<80 {
            words.append(rotated(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], by: 1))
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for (index, word) in words.enumerated() {
            let (mixed, constant): (UInt32, UInt32) =
                switch index {
                case ..<20: (b & c | ~b & d, 0x5A82_7999)
                case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                case ..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            let next = rotated(a, by: 5) &+ mixed &+ e &+ constant &+ word
            (a, b, c, d, e) = (next, a, rotated(b, by: 30), c, d)
        }
        for (index, value) in [a, b, c, d, e].enumerated() { state[index] &+= value }
    }

    private static func rotated(_ value: UInt32, by bits: UInt32) -> UInt32 { value << bits | value >> (32 - bits) }
}
