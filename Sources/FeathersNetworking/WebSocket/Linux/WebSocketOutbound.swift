#if canImport(FoundationNetworking)
    /// The sending half of a connection: the queue, and the state of the closing handshake. Whenever bytes are queued,
    /// either the socket would block and its next event continues sending, or the loop has been woken to continue.
    struct WebSocketOutbound: ~Copyable, Sendable {
        enum Progress: Sendable {
            /// Everything was written, or the socket's next event continues.
            case settled
            /// More could be written, but other connections are served first.
            case unfinished
            case failed(WebSocketError)
        }

        /// The state of a large message, which is delivered by a thread other than the loop's.
        enum Delivery: Sendable {
            case waiting([UInt8], isText: Bool)
            case ended(WebSocketViolation?)
        }

        /// The maximum number of queued bytes. A single message may always be larger.
        private static let maximumQueuedBytes = 16 << 20
        /// The number of queued bytes above which pings get no response.
        private static let maximumQueuedBytesForPongs = 1 << 20
        /// The maximum number of bytes that a thread writes at once, because it holds the lock meanwhile.
        private static let turn = 256 << 10

        var stream: (any ByteStream)?
        var closing = WebSocketClosing()
        var closure: WebSocketClosure?
        var handler: WebSocketHandler?
        var isAbandoned = false
        var delivery: Delivery?

        /// The number of queued bytes from which a message is no longer left to the loop.
        static let gatheringLimit = 64 << 10

        private var queue = OutgoingBytes()
        private var frames = WebSocketFrameWriter()
        /// Whether the queued bytes wait only for the loop to look, and not for the socket.
        private var isGathering = false
        private var isBlocked = false
        /// The error after which nothing more can be written.
        private var writingError: WebSocketError?

        init(_ stream: any ByteStream) { self.stream = stream }

        var obstacle: WebSocketError? {
            guard closure == nil, closing.isOpen else {
                return WebSocketError(.closed, "The WebSocket is closing or closed")
            }
            return writingError
        }

        func hasRoom(for message: WebSocketMessage) -> Bool {
            queue.isEmpty || queue.count + message.byteCount <= Self.maximumQueuedBytes
        }

        /// Whether a pong may be sent. A peer that sends pings but does not read gets no more pongs, as RFC 6455,
        /// section 5.5.3, permits.
        var mayAnswerPings: Bool { obstacle == nil && queue.count < Self.maximumQueuedBytesForPongs }

        /// Queues a message, and writes it immediately unless others wait before it or the socket would block.
        mutating func send(_ message: WebSocketMessage) -> Progress {
            let isFirst = queue.isEmpty || isGathering
            frames.append(message, to: &queue)
            return isFirst ? flush() : .settled
        }

        /// Queues a message that the loop writes with others. The loop must be woken for the first one.
        mutating func gather(_ message: WebSocketMessage) -> Progress {
            guard queue.count < Self.gatheringLimit else { return send(message) }
            let isFirst = queue.isEmpty
            frames.append(message, to: &queue)
            isGathering = isGathering || isFirst
            return isFirst ? .unfinished : .settled
        }

        mutating func send(_ opcode: WebSocketOpcode, _ payload: [UInt8]) -> Progress {
            let isFirst = queue.isEmpty || isGathering
            frames.append(opcode, payload, to: &queue)
            return isFirst ? flush() : .settled
        }

        mutating func unblock() { isBlocked = false }

        mutating func flush() -> Progress {
            isGathering = false
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
                    // Nothing more can be sent, but earlier data from the peer can still be read, most importantly a
                    // close frame.
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
