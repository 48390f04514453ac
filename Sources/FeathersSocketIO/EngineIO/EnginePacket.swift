import Foundation

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
    /// A message of bytes: a binary WebSocket frame, or `b` and Base64 over polling.
    case binary([UInt8])
    /// `5`: the session continues over the WebSocket that carries this packet.
    case upgrade
    /// `6`: nothing; lets a waiting poll return.
    case noop

    /// Reads the text of one WebSocket frame, or one piece of a polling body.
    init(decoding text: String) throws(EngineCodecError) {
        guard let type = text.utf8.first else { throw EngineCodecError(reason: .empty, offset: 0) }
        // Every type is one byte, so the rest starts at a character.
        let rest = { String(text[text.utf8.index(after: text.utf8.startIndex)...]) }
        switch type {
        case UInt8(ascii: "0"): self = .open(rest())
        case UInt8(ascii: "1"): self = .close
        case UInt8(ascii: "2"): self = .ping(rest())
        case UInt8(ascii: "3"): self = .pong(rest())
        case UInt8(ascii: "4"): self = .message(rest())
        case UInt8(ascii: "5"): self = .upgrade
        case UInt8(ascii: "6"): self = .noop
        default: throw EngineCodecError(reason: .unknownType(type), offset: 0)
        }
    }

    /// How many bytes the packet carries.
    var size: Int {
        switch self {
        case .open(let text), .ping(let text), .pong(let text), .message(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        case .close, .upgrade, .noop: 0
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
        case .upgrade: EngineFrame(text: "5")
        case .noop: EngineFrame(text: "6")
        }
    }
}

/// A packet that is written and ready to send, and the call it belongs to.
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

    var size: Int {
        switch content {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }

    /// How many bytes the frame has in a polling body, where bytes become `b` and Base64.
    var pollingSize: Int {
        switch content {
        case .text(let text): text.utf8.count
        case .binary(let bytes): 1 + (bytes.count + 2) / 3 * 4
        }
    }
}

/// The body of a polling request or response: packets joined by U+001E, bytes as `b` and Base64.
enum EnginePayload {
    static let separator: UInt8 = 0x1E
    /// How many packets a body may hold: as many events of 256 bytes as fit into 16 MiB.
    static let maximumPackets = 1 << 16

    /// Reads a body; one packet may have as many bytes as the limit.
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

    private static func packet(in piece: some Collection<UInt8>, at offset: Int) throws(EngineCodecError) -> EnginePacket {
        if piece.first == UInt8(ascii: "b") {
            let text = Data(piece.dropFirst())
            // Foundation accepts more padding than there should be.
            guard text.count.isMultiple(of: 4), let bytes = Data(base64Encoded: text) else {
                throw EngineCodecError(reason: .invalidBase64, offset: offset + 1)
            }
            return .binary(Array(bytes))
        }
        guard let text = String(validating: piece, as: UTF8.self) else { throw EngineCodecError(reason: .invalidUTF8, offset: offset) }
        do {
            return try EnginePacket(decoding: text)
        } catch {
            throw EngineCodecError(reason: error.reason, offset: offset + error.offset)
        }
    }
}

/// Why bytes are not an Engine.IO packet, and where.
struct EngineCodecError: Error, Hashable, CustomStringConvertible {
    enum Reason: Hashable, Sendable {
        case empty, invalidUTF8, invalidBase64
        case unknownType(UInt8)
        case tooLarge(limit: Int)
        case tooManyPackets(limit: Int)
    }

    let reason: Reason
    /// How many bytes precede the fault; for Base64, how many precede its text.
    let offset: Int

    /// The reason and the offset; never the packet, which may hold secrets.
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
