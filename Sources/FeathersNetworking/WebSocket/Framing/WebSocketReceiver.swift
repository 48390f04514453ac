/// Bytes in, messages and control frames out: the receiving half of an open WebSocket.
struct WebSocketReceiver {
    private var parser = WebSocketFrameParser()
    private var assembler: WebSocketMessageAssembler
    private var isOver = false

    /// - Parameter maximumMessageSize: in bytes.
    init(maximumMessageSize: Int) {
        assembler = WebSocketMessageAssembler(maximumSize: maximumMessageSize)
    }

    /// Takes the next whole thing off the front of `input`; nil when more bytes are needed.
    ///
    /// Whatever follows a close frame or a violation is discarded (RFC 6455, sections 5.5.1 and 7.1.7).
    mutating func next(_ input: inout UnsafeRawBufferPointer) throws(WebSocketViolation) -> WebSocketIncoming? {
        guard !isOver else { return nil }
        do throws(WebSocketViolation) {
            while let step = try parser.next(&input) {
                switch step {
                case .began(let header):
                    try assembler.began(header)
                case .payload(let part, let isLast):
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
