/// Bytes in, messages and control frames out: the receiving half of an open WebSocket.
struct WebSocketReceiver {
    private var parser = WebSocketFrameParser()
    private var assembler: WebSocketMessageAssembler
    private var isOver = false
    /// How many more frames ``next(_:)`` takes; with none left, it leaves `input` as it is.
    var allowance = Int.max

    /// - Parameter largeText: from how many bytes on a text is given as ``WebSocketIncoming/largeText(_:)``, unchecked.
    init(maximumMessageSize: Int, largeText: Int = .max) {
        assembler = WebSocketMessageAssembler(maximumSize: maximumMessageSize, largeText: largeText)
    }

    /// Takes the next whole thing off the front of `input`; nil when more bytes are needed, or no frame is allowed any more. Whatever
    /// follows a close frame or a violation is discarded (RFC 6455, sections 5.5.1 and 7.1.7).
    mutating func next(_ input: inout UnsafeRawBufferPointer) throws(WebSocketViolation) -> WebSocketIncoming? {
        guard !isOver else { return nil }
        do throws(WebSocketViolation) {
            while allowance > 0, let step = try parser.next(&input) {
                switch step {
                case .began(let header): try assembler.began(header)
                case .payload(let part, let isLast):
                    if isLast { allowance -= 1 }
                    guard let incoming = try assembler.received(part, isLast: isLast) else { continue }
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

/// Splits a stream of bytes into frames, whatever the size of the reads.
struct WebSocketFrameParser {
    enum Step {
        case began(WebSocketFrameHeader)
        /// The next part of the payload, in the memory given; every frame ends with a last part, be it empty.
        case payload(UnsafeRawBufferPointer, isLast: Bool)
    }

    /// A header's first bytes, while the rest has yet to come.
    private var pending: [UInt8] = []
    /// Payload still to come; nil between frames.
    private var remaining: Int?

    /// Takes the next step off the front of `input`; nil when more bytes are needed, and `input` is empty then.
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
        if pending.isEmpty, input.count >= 2, case let length = WebSocketFrameHeader.length(secondByte: input[1]), input.count >= length {
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
    mutating func removeFirst(atMost count: Int) -> UnsafeRawBufferPointer {
        let count = Swift.min(count, self.count)
        let front = UnsafeRawBufferPointer(start: baseAddress, count: count)
        self = UnsafeRawBufferPointer(start: baseAddress.map { $0 + count }, count: self.count - count)
        return front
    }
}

enum WebSocketIncoming: Equatable {
    case message(WebSocketMessage)
    /// The bytes of a large text, which may not be UTF-8: to find out takes as long as everything else that is done with them.
    case largeText([UInt8])
    case ping([UInt8])
    case pong([UInt8])
    case close(WebSocketCloseFrame)
}

/// Assembles messages from frames; control frames may come between fragments (RFC 6455, section 5.4).
struct WebSocketMessageAssembler {
    /// Whatever length a frame announces, at most this much is allocated before its bytes arrive.
    private static let maximumReservation = 1 << 20

    private let maximumSize: Int
    private let largeText: Int
    private var frame = WebSocketFrameHeader(isFinal: true, opcode: .text, payloadLength: 0)
    /// Text or binary, while a message is unfinished.
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
            guard kind != nil else { throw .protocolError("A continuation frame continues nothing") }
        } else {
            guard kind == nil else { throw .protocolError("A message begins before the last one ended") }
            kind = header.opcode
        }
        guard header.payloadLength <= maximumSize - message.count else { throw .tooLarge(limit: maximumSize) }
    }

    mutating func received(_ part: UnsafeRawBufferPointer, isLast: Bool) throws(WebSocketViolation) -> WebSocketIncoming? {
        if frame.opcode.isControl {
            control.append(contentsOf: part)
            return isLast ? try endControl() : nil
        }
        if isLast, frame.isFinal, message.isEmpty, part.count < largeText {
            // Most messages arrive in one piece: decoded where they are.
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
        return try whole.withUnsafeBufferPointer { bytes throws(WebSocketViolation) in .message(try decode(UnsafeRawBufferPointer(bytes))) }
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
    /// A text message.
    /// - Throws: a violation with 1007 for what is not UTF-8.
    init(text bytes: UnsafeRawBufferPointer) throws(WebSocketViolation) {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .invalidText("A text message is no UTF-8") }
        self = .text(text)
    }
}
