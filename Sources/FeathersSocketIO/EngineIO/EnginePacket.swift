/// One packet of the Engine.IO protocol, revision 4.
enum EnginePacket: Sendable, Hashable {
    /// `0`: the server's handshake, JSON.
    case open(String)
    /// `1`: the session ends.
    case close
    /// `2`: the server's heartbeat, or the probe of a WebSocket, which carries `probe`.
    case ping(String)
    /// `3`: the answer to a ping, with the ping's own text.
    case pong(String)
    /// `4`: a text message.
    case message(String)
    /// A message of bytes: a binary WebSocket frame, `b` and base64 over polling.
    case binary([UInt8])
    /// `5`: the session goes on over the WebSocket this comes through.
    case upgrade
    /// `6`: nothing; lets a waiting poll return.
    case noop
}

/// What is sent: a packet already written, and the call it belongs to.
struct EngineFrame: Sendable, Hashable {
    enum Content: Sendable, Hashable {
        case text(String)
        case binary([UInt8])
    }

    var content: Content
    /// The ack id of the call this frame is a part of.
    var call: Int?

    init(text: String, call: Int? = nil) {
        content = .text(text)
        self.call = call
    }

    init(binary: [UInt8], call: Int? = nil) {
        content = .binary(binary)
        self.call = call
    }

    /// How many bytes the frame has on a WebSocket.
    var size: Int {
        switch content {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }

    /// How many bytes the frame has in a polling body, where bytes become `b` and base64.
    var pollingSize: Int {
        switch content {
        case .text(let text): text.utf8.count
        case .binary(let bytes): 1 + Base64.encodedSize(of: bytes.count)
        }
    }
}
