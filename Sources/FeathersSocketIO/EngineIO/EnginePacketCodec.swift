/// Why something is no Engine.IO packet, and where.
struct EngineCodecError: Error, Hashable, CustomStringConvertible {
    enum Reason: Hashable, Sendable {
        /// No type stands at the start.
        case empty
        /// The type is none of `0` to `6`.
        case unknownType(UInt8)
        /// The bytes are no UTF-8.
        case invalidUTF8
        /// What follows `b` is no base64.
        case invalidBase64
        /// A packet is larger than accepted.
        case tooLarge(limit: Int)
    }

    let reason: Reason
    /// How many bytes stand before the one at fault.
    let offset: Int

    /// The reason and the offset; never the packet, which may hold secrets.
    var description: String {
        let explanation =
            switch reason {
            case .empty: "a packet is empty"
            case .unknownType(let type): "0x\(String(type, radix: 16, uppercase: true)) is no packet type"
            case .invalidUTF8: "a packet is not UTF-8"
            case .invalidBase64: "a binary packet is no base64"
            case .tooLarge(let limit): "a packet is larger than \(limit) bytes"
            }
        return "Invalid Engine.IO packet at byte \(offset): \(explanation)"
    }
}

extension EnginePacket {
    /// Reads the text of one WebSocket frame, or one piece of a polling body.
    init(decoding text: String) throws(EngineCodecError) {
        guard let type = text.utf8.first else { throw EngineCodecError(reason: .empty, offset: 0) }
        // Every type is one byte, so that what follows starts at a character.
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

    /// The packet as it is sent.
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
