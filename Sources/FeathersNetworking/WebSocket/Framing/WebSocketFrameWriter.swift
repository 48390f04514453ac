/// Writes the frames a client sends: whole and masked (RFC 6455, section 5.2).
struct WebSocketFrameWriter {
    private var keys = WebSocketMaskKeys()

    init() {}

    mutating func append(_ message: WebSocketMessage, to queue: inout OutgoingBytes) {
        switch message {
        case .text(var text): text.withUTF8 { append(.text, UnsafeRawBufferPointer($0), to: &queue) }
        case .binary(let bytes): bytes.withUnsafeBytes { append(.binary, $0, to: &queue) }
        }
    }

    mutating func append(_ opcode: WebSocketOpcode, _ payload: [UInt8], to queue: inout OutgoingBytes) {
        payload.withUnsafeBytes { append(opcode, $0, to: &queue) }
    }

    private mutating func append(_ opcode: WebSocketOpcode, _ payload: UnsafeRawBufferPointer, to queue: inout OutgoingBytes) {
        Self.append(opcode, payload, key: keys.next(), to: &queue)
    }

    static func append(_ opcode: WebSocketOpcode, _ payload: UnsafeRawBufferPointer, key: UInt32, to queue: inout OutgoingBytes) {
        let count = payload.count
        let keyOffset = count < 126 ? 2 : count <= Int(UInt16.max) ? 4 : 10
        queue.append(keyOffset + 4 + count) { frame in
            frame[0] = 0x80 | opcode.rawValue
            switch keyOffset {
            case 2:
                frame[1] = 0x80 | UInt8(count)
            case 4:
                frame[1] = 0x80 | 126
                frame.storeBytes(of: UInt16(count).bigEndian, toByteOffset: 2, as: UInt16.self)
            default:
                frame[1] = 0x80 | 127
                frame.storeBytes(of: UInt64(count).bigEndian, toByteOffset: 2, as: UInt64.self)
            }
            frame.storeBytes(of: key, toByteOffset: keyOffset, as: UInt32.self)
            WebSocketMask.copy(payload, to: UnsafeMutableRawBufferPointer(rebasing: frame[(keyOffset + 4)...]), key: key)
        }
    }
}

extension WebSocketMessage {
    /// The payload's size in bytes.
    var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}
