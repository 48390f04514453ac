/// The frame types (RFC 6455, section 5.2). All other opcodes are reserved.
enum WebSocketOpcode: UInt8 {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    /// Whether the frame is short, unfragmented, and allowed between the fragments of a message (section 5.5).
    var isControl: Bool { rawValue & 8 != 0 }
}

/// The bytes before a frame's payload, as sent by a server (RFC 6455, section 5.2).
struct WebSocketFrameHeader: Equatable {
    var isFinal: Bool
    var opcode: WebSocketOpcode
    var payloadLength: Int
}

extension WebSocketFrameHeader {
    /// Returns the length of the whole header, given its second byte.
    static func length(secondByte: UInt8) -> Int {
        switch secondByte & 0x7F {
        case 126: 4
        case 127: 10
        default: 2
        }
    }

    /// Parses a complete header.
    /// - Parameter bytes: As many bytes as ``length(secondByte:)`` returns.
    /// - Throws: A violation with 1002 for anything that section 5 forbids: reserved bits and opcodes, masked frames
    ///   from a server, lengths not in the shortest form or beyond 2⁶³, and control frames that are fragmented or
    ///   longer than 125 bytes.
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
            guard length > 125 else { throw .protocolError("A frame's length isn't in its shortest form") }
            return length
        case 127:
            let length = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt64.self))
            guard length > UInt16.max else { throw .protocolError("A frame's length isn't in its shortest form") }
            guard length >> 63 == 0 else { throw .protocolError("A frame's length has its highest bit set") }
            // If Int has 32 bits, a length that does not fit exceeds every limit as well.
            return Int(clamping: length)
        case let length: return Int(length)
        }
    }
}

/// The content of a close frame (RFC 6455, section 5.5.1).
struct WebSocketCloseFrame: Equatable {
    /// Control frames carry 125 bytes, of which the code takes two.
    static let maximumReasonBytes = 123

    var code: UInt16?
    var reason: String

    /// Creates a close frame. A code that must not be sent becomes 1000. A reason that is too long is truncated at a
    /// character boundary.
    init(code: UInt16, reason: String = "") {
        self.code = Self.isAllowed(code) ? code : 1000
        self.reason = Self.cut(reason)
    }

    /// - Throws: A violation for a payload of one byte, a code that no peer may send, or a reason that isn't UTF-8.
    init(payload: [UInt8]) throws(WebSocketViolation) {
        guard payload.count != 1 else { throw .protocolError("A close frame contains only half a code") }
        guard payload.count >= 2 else {
            code = nil
            reason = ""
            return
        }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        guard Self.isAllowed(code) else {
            throw .protocolError("A close frame contains the code \(code), which must not be sent")
        }
        guard let reason = String(validating: payload[2...], as: UTF8.self) else {
            throw .invalidText("A close frame's reason isn't UTF-8")
        }
        self.code = code
        self.reason = reason
    }

    var payload: [UInt8] {
        guard let code else { return [] }
        return [UInt8(code >> 8), UInt8(truncatingIfNeeded: code)] + reason.utf8
    }

    /// Sections 7.4.1 and 7.4.2, plus later registrations. 1004, 1005, 1006, and 1015 are never sent.
    static func isAllowed(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    private static func cut(_ reason: String) -> String {
        guard reason.utf8.count > maximumReasonBytes else { return reason }
        var (end, size) = (reason.startIndex, 0)
        for index in reason.indices {
            size += reason[index].utf8.count
            if size > maximumReasonBytes { break }
            end = reason.index(after: index)
        }
        return String(reason[..<end])
    }
}

/// A protocol violation by the peer, with the close code to send (RFC 6455, section 7.4.1).
struct WebSocketViolation: Error, Equatable {
    /// 1002 for a protocol error, 1007 for text that isn't UTF-8, or 1009 for a message that is too large.
    var closeCode: UInt16
    var message: String

    static func protocolError(_ message: String) -> WebSocketViolation {
        WebSocketViolation(closeCode: 1002, message: message)
    }
    static func invalidText(_ message: String) -> WebSocketViolation {
        WebSocketViolation(closeCode: 1007, message: message)
    }

    static func tooLarge(limit: Int) -> WebSocketViolation {
        WebSocketViolation(closeCode: 1009, message: "A message is larger than the maximum of \(limit) bytes")
    }
}
