/// The bytes before a frame's payload, as a server sends them (RFC 6455, section 5.2).
struct WebSocketFrameHeader: Equatable {
    var isFinal: Bool
    var opcode: WebSocketOpcode
    var payloadLength: Int

    init(isFinal: Bool, opcode: WebSocketOpcode, payloadLength: Int) {
        self.isFinal = isFinal
        self.opcode = opcode
        self.payloadLength = payloadLength
    }

    /// How long the whole header is, which its second byte tells.
    static func length(secondByte: UInt8) -> Int {
        switch secondByte & 0x7F {
        case 126: 4
        case 127: 10
        default: 2
        }
    }

    /// Reads a whole header.
    /// - Parameter bytes: as many as ``length(secondByte:)`` says.
    /// - Throws: a violation with 1002 for what section 5 forbids: reserved bits and opcodes, masked frames from a server, lengths
    ///   written longer than needed or beyond 2⁶³, control frames that are fragmented or longer than 125 bytes.
    init(_ bytes: UnsafeRawBufferPointer) throws(WebSocketViolation) {
        let (first, second) = (bytes[0], bytes[1])
        guard first & 0x70 == 0 else { throw .protocolError("A frame has reserved bits set") }
        guard let opcode = WebSocketOpcode(rawValue: first & 0x0F) else {
            throw .protocolError("A frame has the reserved opcode \(first & 0x0F)")
        }
        guard second & 0x80 == 0 else { throw .protocolError("The server masked a frame") }
        self.init(isFinal: first & 0x80 != 0, opcode: opcode, payloadLength: try Self.payloadLength(bytes))
        if opcode.isControl {
            guard isFinal else { throw .protocolError("A control frame is fragmented") }
            guard payloadLength <= 125 else { throw .protocolError("A control frame is longer than 125 bytes") }
        }
    }

    private static func payloadLength(_ bytes: UnsafeRawBufferPointer) throws(WebSocketViolation) -> Int {
        switch bytes[1] & 0x7F {
        case 126:
            let length = Int(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
            guard length > 125 else { throw .protocolError("A frame's length is written longer than needed") }
            return length
        case 127:
            let length = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt64.self))
            guard length > UInt16.max else { throw .protocolError("A frame's length is written longer than needed") }
            guard length >> 63 == 0 else { throw .protocolError("A frame's length has its highest bit set") }
            // Where Int has 32 bits, what does not fit is beyond every limit as well.
            return Int(clamping: length)
        case let length:
            return Int(length)
        }
    }
}
