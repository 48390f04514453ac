/// The receiving half of an open WebSocket, which turns bytes into messages and control frames.
struct WebSocketReceiver {
    private var parser = WebSocketFrameParser()
    private var assembler: WebSocketMessageAssembler
    private var isOver = false
    /// The number of frames that ``next(_:)`` may still consume. At zero, it leaves `input` unchanged.
    var allowance = Int.max

    /// Creates a receiver. Text of at least `largeText` bytes is returned as ``WebSocketIncoming/largeText(_:)``,
    /// without validation.
    init(maximumMessageSize: Int, largeText: Int = .max) {
        assembler = WebSocketMessageAssembler(maximumSize: maximumMessageSize, largeText: largeText)
    }

    /// Consumes the next complete message or control frame from the front of `input`. Returns nil if more bytes are
    /// needed or the allowance is used up. Bytes after a close frame or a violation are discarded (RFC 6455, sections
    /// 5.5.1 and 7.1.7).
    /// - Parameter handler: Receives the ASCII texts that arrived in one piece. This method does not return the texts
    ///   that the handler takes.
    mutating func next(
        _ input: inout UnsafeRawBufferPointer, offering handler: WebSocketHandler? = nil
    ) throws(WebSocketViolation) -> WebSocketIncoming? {
        guard !isOver else { return nil }
        do throws(WebSocketViolation) {
            while allowance > 0, let step = try parser.next(&input) {
                switch step {
                case .began(let header): try assembler.began(header)
                case .payload(let part, let isLast):
                    if isLast { allowance -= 1 }
                    guard let incoming = try assembler.received(part, isLast: isLast, offering: handler) else {
                        continue
                    }
                    if case .close = incoming { isOver = true }
                    return incoming
                }
            }
            return nil
        } catch {
            isOver = true
            throw error
        }
    }
}

/// Splits a stream of bytes into frames, regardless of how the bytes are divided into reads.
struct WebSocketFrameParser {
    enum Step {
        case began(WebSocketFrameHeader)
        /// The next part of the payload, in the given memory. Every frame ends with a last part, even if it is empty.
        case payload(UnsafeRawBufferPointer, isLast: Bool)
    }

    /// The first bytes of a header that is still incomplete.
    private var pending: [UInt8] = []
    /// The number of payload bytes still to come, or nil between frames.
    private var remaining: Int?

    /// Consumes the next step from the front of `input`. Returns nil, with `input` empty, if more bytes are needed.
    mutating func next(_ input: inout UnsafeRawBufferPointer) throws(WebSocketViolation) -> Step? {
        guard let remaining else { return try header(&input) }
        guard remaining == 0 || !input.isEmpty else { return nil }
        let part = input.removeFirst(atMost: remaining)
        let isLast = part.count == remaining
        self.remaining = isLast ? nil : remaining - part.count
        return .payload(part, isLast: isLast)
    }

    private mutating func header(_ input: inout UnsafeRawBufferPointer) throws(WebSocketViolation) -> Step? {
        let header: WebSocketFrameHeader
        if pending.isEmpty, input.count >= 2, case let length = WebSocketFrameHeader.length(secondByte: input[1]),
            input.count >= length
        {
            header = try WebSocketFrameHeader(input.removeFirst(atMost: length))
        } else {
            guard completePending(&input) else { return nil }
            header = try pending.withUnsafeBufferPointer { bytes throws(WebSocketViolation) in
                try WebSocketFrameHeader(UnsafeRawBufferPointer(bytes))
            }
            pending.removeAll(keepingCapacity: true)
        }
        remaining = header.payloadLength
        return .began(header)
    }

    private mutating func completePending(_ input: inout UnsafeRawBufferPointer) -> Bool {
        while true {
            let length = pending.count < 2 ? 2 : WebSocketFrameHeader.length(secondByte: pending[1])
            if pending.count == length { return true }
            guard !input.isEmpty else { return false }
            pending.append(contentsOf: input.removeFirst(atMost: length - pending.count))
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether no byte has its highest bit set, eight bytes at a time.
    fileprivate var isASCII: Bool {
        var (bits, offset): (UInt64, Int) = (0, 0)
        while offset &+ 8 <= count {
            bits |= loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            offset &+= 8
        }
        while offset < count {
            bits |= UInt64(self[offset])
            offset &+= 1
        }
        return bits & 0x8080_8080_8080_8080 == 0
    }

    mutating func removeFirst(atMost count: Int) -> UnsafeRawBufferPointer {
        let count = Swift.min(count, self.count)
        let front = UnsafeRawBufferPointer(start: baseAddress, count: count)
        self = UnsafeRawBufferPointer(start: baseAddress.map { $0 + count }, count: self.count - count)
        return front
    }
}

enum WebSocketIncoming: Equatable {
    case message(WebSocketMessage)
    /// The bytes of a large text, which may not be UTF-8. Validating it takes as long as all other work on the text.
    case largeText([UInt8])
    case ping([UInt8])
    case pong([UInt8])
    case close(WebSocketCloseFrame)
}

/// Assembles messages from frames. Control frames may appear between fragments (RFC 6455, section 5.4).
struct WebSocketMessageAssembler {
    /// The maximum number of bytes to allocate before the payload arrives, regardless of the length that a frame
    /// announces.
    private static let maximumReservation = 1 << 20

    private let maximumSize: Int
    private let largeText: Int
    private var frame = WebSocketFrameHeader(isFinal: true, opcode: .text, payloadLength: 0)
    /// Text or binary while a message is incomplete.
    private var kind: WebSocketOpcode?
    private var message: [UInt8] = []
    private var control: [UInt8] = []

    init(maximumSize: Int, largeText: Int) {
        self.maximumSize = maximumSize
        self.largeText = largeText
    }

    mutating func began(_ header: WebSocketFrameHeader) throws(WebSocketViolation) {
        frame = header
        guard !header.opcode.isControl else { return }
        if header.opcode == .continuation {
            guard kind != nil else { throw .protocolError("A continuation frame has no message to continue") }
        } else {
            guard kind == nil else { throw .protocolError("A message begins before the previous one ended") }
            kind = header.opcode
        }
        guard header.payloadLength <= maximumSize - message.count else { throw .tooLarge(limit: maximumSize) }
    }

    mutating func received(
        _ part: UnsafeRawBufferPointer, isLast: Bool, offering handler: WebSocketHandler?
    ) throws(WebSocketViolation) -> WebSocketIncoming? {
        if frame.opcode.isControl {
            control.append(contentsOf: part)
            return isLast ? try endControl() : nil
        }
        if isLast, frame.isFinal, message.isEmpty, part.count < largeText {
            // Most messages arrive in one piece and are decoded in place.
            if kind == .text, let handler, part.isASCII, handler.text(part.assumingMemoryBound(to: UInt8.self)) {
                kind = nil
                return nil
            }
            return .message(try decode(part))
        }
        if message.isEmpty { message.reserveCapacity(min(frame.payloadLength, Self.maximumReservation)) }
        message.append(contentsOf: part)
        guard isLast, frame.isFinal else { return nil }
        let whole = message
        message = []
        if kind == .binary || whole.count >= largeText {
            defer { kind = nil }
            return kind == .binary ? .message(.binary(whole)) : .largeText(whole)
        }
        return try whole.withUnsafeBufferPointer { bytes throws(WebSocketViolation) in
            .message(try decode(UnsafeRawBufferPointer(bytes)))
        }
    }

    private mutating func decode(_ bytes: UnsafeRawBufferPointer) throws(WebSocketViolation) -> WebSocketMessage {
        defer { kind = nil }
        if kind == .binary { return .binary(Array(bytes)) }
        return try WebSocketMessage(text: bytes)
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

extension WebSocketMessage {
    /// Creates a text message.
    /// - Throws: A violation with 1007 if the bytes aren't UTF-8.
    init(text bytes: UnsafeRawBufferPointer) throws(WebSocketViolation) {
        // Most texts are ASCII, which needs no validation. The validating initializer is generic: at run time, it looks
        // up the metadata of its types.
        if bytes.isASCII {
            self = .text(String(decoding: bytes, as: UTF8.self))
        } else {
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw .invalidText("A text message isn't UTF-8")
            }
            self = .text(text)
        }
    }
}
