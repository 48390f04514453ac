/// What frames amount to.
enum WebSocketIncoming: Equatable {
    case message(WebSocketMessage)
    case ping([UInt8])
    case pong([UInt8])
    case close(WebSocketCloseFrame)
}

/// Puts messages together from frames, control frames standing between fragments included (RFC 6455, section 5.4).
struct WebSocketMessageAssembler {
    /// However large a frame says it will be, no more than this is allocated before its bytes arrive.
    private static let maximumReservation = 1 << 20

    private let maximumSize: Int
    private var frame = WebSocketFrameHeader(isFinal: true, opcode: .text, payloadLength: 0)
    /// Text or binary, while a message is unfinished.
    private var kind: WebSocketOpcode?
    private var message: [UInt8] = []
    private var control: [UInt8] = []

    /// - Parameter maximumSize: the largest message accepted, in bytes.
    init(maximumSize: Int) {
        self.maximumSize = maximumSize
    }

    mutating func began(_ header: WebSocketFrameHeader) throws(WebSocketViolation) {
        frame = header
        guard !header.opcode.isControl else { return }
        if header.opcode == .continuation {
            guard kind != nil else { throw .protocolError("A continuation frame continues nothing") }
        } else {
            guard kind == nil else { throw .protocolError("A message begins before the last one ended") }
            kind = header.opcode
        }
        guard header.payloadLength <= maximumSize - message.count else { throw .tooLarge(limit: maximumSize) }
    }

    /// Takes a part of the payload; returns what it completes.
    mutating func received(_ part: UnsafeRawBufferPointer, isLast: Bool) throws(WebSocketViolation) -> WebSocketIncoming? {
        if frame.opcode.isControl {
            control.append(contentsOf: part)
            return isLast ? try endControl() : nil
        }
        if isLast, frame.isFinal, message.isEmpty {
            // Most messages arrive in one piece: decoded where they are.
            return .message(try decode(part))
        }
        if message.isEmpty {
            message.reserveCapacity(min(frame.payloadLength, Self.maximumReservation))
        }
        message.append(contentsOf: part)
        guard isLast, frame.isFinal else { return nil }
        let whole = message
        message = []
        if kind == .binary { return .message(endBinary(whole)) }
        return try whole.withUnsafeBufferPointer { bytes throws(WebSocketViolation) in .message(try decode(UnsafeRawBufferPointer(bytes))) }
    }

    private mutating func endBinary(_ bytes: [UInt8]) -> WebSocketMessage {
        kind = nil
        return .binary(bytes)
    }

    private mutating func decode(_ bytes: UnsafeRawBufferPointer) throws(WebSocketViolation) -> WebSocketMessage {
        if kind == .binary { return endBinary(Array(bytes)) }
        kind = nil
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .invalidText("A text message is no UTF-8") }
        return .text(text)
    }

    private mutating func endControl() throws(WebSocketViolation) -> WebSocketIncoming {
        let payload = control
        control = []
        return switch frame.opcode {
        case .ping: .ping(payload)
        case .pong: .pong(payload)
        default: .close(try WebSocketCloseFrame(payload: payload))
        }
    }
}
