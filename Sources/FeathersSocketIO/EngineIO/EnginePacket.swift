import FeathersNetworking
import Foundation

/// A packet of the Engine.IO protocol, revision 4. Packet `5` is left out: clients send it to move a session to another
/// transport, and this one never does.
enum EnginePacket: Sendable, Hashable {
    /// `0`: the server's handshake, in JSON.
    case open(String)
    /// `1`: ends the session.
    case close
    /// `2`: the server's heartbeat.
    case ping(String)
    /// `3`: the response to a ping, with the same text.
    case pong(String)
    /// `4`: a text message. It shares the memory of the frame.
    case message(Substring)
    /// A binary message: a binary WebSocket frame, or `b` and Base64 over polling.
    case binary([UInt8])
    /// `6`: no content; releases a waiting poll.
    case noop

    /// Parses the text of a WebSocket frame, or one part of a polling body.
    init(decoding text: String) throws(EngineCodecError) {
        guard let type = text.utf8.first else { throw EngineCodecError(reason: .empty, offset: 0) }
        // Every type is a single byte, so the rest starts at a character boundary.
        let rest = text[text.utf8.index(after: text.utf8.startIndex)...]
        switch type {
        case UInt8(ascii: "0"): self = .open(String(rest))
        case UInt8(ascii: "1"): self = .close
        case UInt8(ascii: "2"): self = .ping(String(rest))
        case UInt8(ascii: "3"): self = .pong(String(rest))
        case UInt8(ascii: "4"): self = .message(rest)
        case UInt8(ascii: "6"): self = .noop
        default: throw EngineCodecError(reason: .unknownType(type), offset: 0)
        }
    }

    /// The size of the packet's content, in bytes.
    var size: Int {
        switch self {
        case .open(let text), .ping(let text), .pong(let text): text.utf8.count
        case .message(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        case .close, .noop: 0
        }
    }

    var frame: EngineFrame {
        switch self {
        case .open(let text): EngineFrame(text: "0" + text)
        case .close: EngineFrame(text: "1")
        case .ping(let text): EngineFrame(text: "2" + text)
        case .pong(let text): EngineFrame(text: "3" + text)
        case .message(let text): EngineFrame(text: "4" + text)
        case .binary(let bytes): EngineFrame(binary: bytes)
        case .noop: EngineFrame(text: "6")
        }
    }
}

/// A serialized packet that is ready to send, and the call it belongs to.
struct EngineFrame: Sendable, Hashable {
    var content: WebSocketMessage
    /// The acknowledgement id of the call that this frame is a part of.
    var call: Int?

    init(text: String, call: Int? = nil) {
        content = .text(text)
        self.call = call
    }

    init(binary: [UInt8], call: Int? = nil) {
        content = .binary(binary)
        self.call = call
    }

    var size: Int { content.byteCount }

    /// The size of the frame in a polling body, where bytes become `b` and Base64.
    var pollingSize: Int {
        switch content {
        case .text(let text): text.utf8.count
        case .binary(let bytes): 1 + (bytes.count + 2) / 3 * 4
        }
    }
}

/// The body of a polling request or response: packets joined by U+001E, with bytes as `b` and Base64.
enum EnginePayload {
    static let separator: UInt8 = 0x1E
    /// The maximum number of packets in a body: as many events of 256 bytes as fit into 16 MiB.
    static let maximumPackets = 1 << 16

    /// Parses a body. The limit applies to the size of each packet, in bytes.
    static func packets(in body: some Collection<UInt8>, limit: Int = .max) throws(EngineCodecError) -> [EnginePacket] {
        var packets: [EnginePacket] = []
        var start = body.startIndex
        var offset = 0
        while true {
            let end = body[start...].firstIndex(of: separator) ?? body.endIndex
            let piece = body[start..<end]
            let size = piece.count
            guard size <= limit else { throw EngineCodecError(reason: .tooLarge(limit: limit), offset: offset) }
            guard packets.count < maximumPackets else {
                throw EngineCodecError(reason: .tooManyPackets(limit: maximumPackets), offset: offset)
            }
            packets.append(try packet(in: piece, at: offset))
            guard end < body.endIndex else { return packets }
            start = body.index(after: end)
            offset += size + 1
        }
    }

    static func body(of frames: some Sequence<EngineFrame>) -> [UInt8] {
        var body: [UInt8] = []
        for (index, frame) in frames.enumerated() {
            if index > 0 { body.append(separator) }
            switch frame.content {
            case .text(let text): body.append(contentsOf: text.utf8)
            case .binary(let bytes):
                body.append(UInt8(ascii: "b"))
                body.append(contentsOf: Data(bytes).base64EncodedData())
            }
        }
        return body
    }

    private static func packet(in piece: some Collection<UInt8>, at offset: Int) throws(EngineCodecError)
        -> EnginePacket
    {
        if piece.first == UInt8(ascii: "b") {
            let text = Data(piece.dropFirst())
            // Foundation accepts excess padding.
            guard text.count.isMultiple(of: 4), let bytes = Data(base64Encoded: text) else {
                throw EngineCodecError(reason: .invalidBase64, offset: offset + 1)
            }
            return .binary(Array(bytes))
        }
        guard let text = String(validating: piece, as: UTF8.self) else {
            throw EngineCodecError(reason: .invalidUTF8, offset: offset)
        }
        do {
            return try EnginePacket(decoding: text)
        } catch {
            throw EngineCodecError(reason: error.reason, offset: offset + error.offset)
        }
    }
}

/// The reason why bytes aren't an Engine.IO packet, and their position.
struct EngineCodecError: Error, Hashable, CustomStringConvertible {
    enum Reason: Hashable, Sendable {
        case empty, invalidUTF8, invalidBase64
        case unknownType(UInt8)
        case tooLarge(limit: Int)
        case tooManyPackets(limit: Int)
    }

    let reason: Reason
    /// The number of bytes before the error. For Base64, the number of bytes before its text.
    let offset: Int

    /// The reason and the offset, but never the packet, which may contain secrets.
    var description: String {
        let explanation =
            switch reason {
            case .empty: "a packet is empty"
            case .unknownType(let type): "0x\(String(type, radix: 16, uppercase: true)) is not a packet type"
            case .invalidUTF8: "a packet is not UTF-8"
            case .invalidBase64: "a binary packet is not Base64"
            case .tooLarge(let limit): "a packet is larger than \(limit) bytes"
            case .tooManyPackets(let limit): "more than \(limit) packets at once"
            }
        return "Invalid Engine.IO packet at byte \(offset): \(explanation)"
    }
}
