public import Foundation

/// The server whose WebSockets misbehave as told by the path, see `Tests/Support/Backend/backend/websockets.py`.
public struct WebSocketServer: Sendable {
    private let plainPort: Int
    private let securePort: Int
    /// What ``secureURL(_:host:)`` shows, for `localhost`, as a PEM file; nil where there is no TLS.
    public let certificate: URL?

    /// - Parameter ports: what the server says when it starts.
    init?(_ ports: String, certificate: URL?) {
        let words = ports.split(separator: " ")
        guard words.count == 2, let plain = Int(words[0]), let secure = Int(words[1]) else { return nil }
        plainPort = plain
        securePort = secure
        self.certificate = certificate
    }

    public func url(_ path: String) -> URL {
        Self.url("ws://127.0.0.1:\(plainPort)/\(path)")
    }

    public func secureURL(_ path: String, host: String = "localhost") -> URL {
        Self.url("wss://\(host):\(securePort)/\(path)")
    }

    /// The path that sends these bytes after the opening handshake.
    public static func sending(_ bytes: [UInt8]) -> String {
        "send/" + hex(bytes)
    }

    /// The path that answers the opening handshake with this; `{accept}` stands for the proof.
    public static func answering(_ answer: [UInt8]) -> String {
        "answer/" + hex(answer)
    }

    private static func url(_ text: String) -> URL {
        guard let url = URL(string: text) else { preconditionFailure("no URL: \(text)") }
        return url
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
