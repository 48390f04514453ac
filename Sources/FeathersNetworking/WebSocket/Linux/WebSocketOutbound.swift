#if os(Linux)
    /// The sending half of a connection: what is queued, and how far the closing handshake has come. Whenever bytes are queued, either the
    /// socket would block, and its next event goes on, or the loop has been woken to go on.
    struct WebSocketOutbound: ~Copyable, Sendable {
        enum Progress: Sendable {
            /// Everything is on its way, or the socket's next event goes on.
            case settled
            /// More could be written, but others want a turn.
            case unfinished
            case failed(WebSocketError)
        }

        /// What becomes of a large message, which another thread than the loop's delivers.
        enum Delivery: Sendable {
            case waiting([UInt8], isText: Bool)
            case ended(WebSocketViolation?)
        }

        /// How much may be queued, in bytes; one message may always be larger.
        private static let maximumQueuedBytes = 16 << 20
        /// While more than this is queued, in bytes, pings are not answered.
        private static let maximumQueuedBytesForPongs = 1 << 20
        /// How much one thread writes in one go, in bytes: it holds the lock meanwhile.
        private static let turn = 256 << 10

        var stream: (any ByteStream)?
        var closing = WebSocketClosing()
        var closure: WebSocketClosure?
        var handler: (@Sendable (WebSocketEvent) -> Void)?
        var isAbandoned = false
        var delivery: Delivery?

        private var queue = OutgoingBytes()
        private var frames = WebSocketFrameWriter()
        private var isBlocked = false
        /// Why nothing more can be written, once writing failed.
        private var writingError: WebSocketError?

        init(_ stream: any ByteStream) { self.stream = stream }

        var obstacle: WebSocketError? {
            guard closure == nil, closing.isOpen else { return WebSocketError(.closed, "The WebSocket is closing or closed") }
            return writingError
        }

        func hasRoom(for message: WebSocketMessage) -> Bool {
            queue.isEmpty || queue.count + message.byteCount <= Self.maximumQueuedBytes
        }

        /// Whether a pong may be sent. A peer that pings but does not read gets no more of them: RFC 6455, section 5.5.3, allows it.
        var mayAnswerPings: Bool { obstacle == nil && queue.count < Self.maximumQueuedBytesForPongs }

        /// Queues a message, and writes it where nothing is queued before it.
        mutating func send(_ message: WebSocketMessage) -> Progress {
            let wasEmpty = queue.isEmpty
            frames.append(message, to: &queue)
            return wasEmpty ? flush() : .settled
        }

        mutating func send(_ opcode: WebSocketOpcode, _ payload: [UInt8]) -> Progress {
            let wasEmpty = queue.isEmpty
            frames.append(opcode, payload, to: &queue)
            return wasEmpty ? flush() : .settled
        }

        mutating func unblock() { isBlocked = false }

        mutating func flush() -> Progress {
            if let writingError { return .failed(writingError) }
            guard !isBlocked, let stream else { return .settled }
            var written = 0
            while !queue.isEmpty {
                guard written < Self.turn else { return .unfinished }
                switch stream.write(UnsafeRawBufferPointer(rebasing: queue.bytes.prefix(Self.turn))) {
                case .bytes(let count):
                    queue.removeFirst(count)
                    written += count
                case .wouldBlock:
                    isBlocked = true
                    return .settled
                case .ended, .failed:
                    // Nothing can be sent any more, but what the peer said before may still be read, a close frame above all.
                    queue.removeAll()
                    let error = WebSocketError(.connectionLost, "The connection was lost while sending")
                    writingError = error
                    return .failed(error)
                }
            }
            return .settled
        }
    }
#endif
