/// Takes a stream of bytes apart into frames, wherever the reads happened to cut it.
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

    init() {}

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
    /// Cuts up to `count` bytes off the front.
    mutating func removeFirst(atMost count: Int) -> UnsafeRawBufferPointer {
        let count = Swift.min(count, self.count)
        let front = UnsafeRawBufferPointer(start: baseAddress, count: count)
        self = UnsafeRawBufferPointer(start: baseAddress.map { $0 + count }, count: self.count - count)
        return front
    }
}
