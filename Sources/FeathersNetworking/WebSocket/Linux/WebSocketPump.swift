import FeathersSupport

#if canImport(FoundationNetworking)
    import Dispatch

    /// A connection on the loop's thread: reads, assembles and delivers messages, and ends the connection.
    final class WebSocketPump: SocketListener {
        // The limits on reads, bytes, and frames before other connections are served, so that a flood on one connection
        // does not hold up the rest. Reads are limited separately, because TLS may return only a few bytes at a time.
        private static let readsPerTurn = 16
        private static let bytesPerTurn = 128 << 10
        static let framesPerTurn = 128
        /// The size in bytes from which a message is delivered on the connection's own queue.
        static let largeMessage = 64 << 10
        /// How long the peer may take to end the connection after the closing handshake, which is the server's duty
        /// (RFC 6455, section 7.1.1).
        private static let lingering = Duration.seconds(1)

        private struct Ending: Sendable {
            var closure: WebSocketClosure
            var handler: WebSocketHandler?
        }

        let descriptor: Int32
        private let holdsBytes: Bool
        private let link: WebSocketLink
        private var receiver: WebSocketReceiver
        /// The bytes read but not yet parsed: those that arrived with the opening handshake, and those beyond the
        /// limits above.
        private var unread: ArraySlice<UInt8>
        private var handler: WebSocketHandler?
        /// Delivers large messages one at a time. A handler may need a long time for one, and all connections share the
        /// loop's thread.
        private lazy var queue = DispatchQueue(label: "feathers.websocket")
        /// Whether a large message is being delivered. Reading pauses meanwhile, which preserves the order and slows
        /// down the peer.
        private var isDelivering = false
        private var hadLargeText = false
        private var isEnding = false
        /// Whether the handler has received the end, and the socket is only waiting for the peer to close it.
        private var isLingering = false
        private var hasDeadline = false
        private var writingError: WebSocketError?

        init(_ link: WebSocketLink, stream: any ByteStream, early: [UInt8], maximumMessageSize: Int) {
            self.link = link
            unread = early[...]
            // Stored, because the stream itself must not outlive the end of the connection.
            descriptor = stream.descriptor
            holdsBytes = stream.holdsBytes
            receiver = WebSocketReceiver(maximumMessageSize: maximumMessageSize, largeText: Self.largeMessage)
        }

        func changed(isReadable: Bool, isWritable: Bool, isEnding: Bool, on thread: SocketLoopThread) {
            if isEnding { self.isEnding = true }
            guard isReadable, mayRead, unread.isEmpty else {
                let progress = link.outbound.withLock { outbound in
                    outbound.unblock()
                    return outbound.flush()
                }
                note(progress, on: thread)
                if isReadable || writingError != nil { read(on: thread) }
                return
            }
            // Most events are a message to read. Writing and reading then take the lock once.
            let (progress, first) = link.outbound.withLock { outbound in
                outbound.unblock()
                return (outbound.flush(), outbound.stream?.read(into: thread.scratch))
            }
            note(progress, on: thread)
            read(on: thread, first: first)
        }

        func woken(on thread: SocketLoopThread) {
            let (handler, isAbandoned, isClosing, delivery) = link.outbound.withLock { outbound in
                (outbound.handler, outbound.isAbandoned, !outbound.closing.isOpen, outbound.delivery)
            }
            if self.handler == nil { self.handler = handler }
            if isDelivering, case .ended(let violation)? = delivery {
                isDelivering = false
                if let violation { act({ $0.receivedViolation(violation) }, on: thread) }
            }
            if isClosing, !hasDeadline, !isLingering {
                hasDeadline = true
                thread.setDeadline(.now.advanced(by: link.closingTimeout), for: link.token)
            }
            note(link.outbound.withLock { outbound in outbound.flush() }, on: thread)
            read(on: thread)
            if isAbandoned { act({ $0.abandoned() }, on: thread) }
        }

        func deadlinePassed(on thread: SocketLoopThread) {
            if !isLingering { act({ $0.deadlinePassed() }, on: thread) }
            end(on: thread)
        }

        func failed(on thread: SocketLoopThread) {
            lose(WebSocketError(.connectionLost, "The system cannot watch any more sockets"), on: thread)
        }

        // MARK: Writing

        private func note(_ progress: WebSocketOutbound.Progress, on thread: SocketLoopThread) {
            switch progress {
            case .settled: break
            case .unfinished: thread.callAgain(link.token)
            case .failed(let error): writingError = error
            }
        }

        // MARK: Reading

        /// Whether to read. Reading waits for a handler, so that TCP slows down the peer.
        private var mayRead: Bool { (isLingering || handler != nil || writingError != nil) && !isPaused }

        /// - Parameter first: The result of a read that the caller has already made.
        private func read(on thread: SocketLoopThread, first: ByteStreamProgress? = nil) {
            guard mayRead else { return }
            var first = first
            receiver.allowance = Self.framesPerTurn
            var (reads, bytes) = (0, unread.count)
            if !unread.isEmpty {
                let waiting = unread
                unread = []
                let left = waiting.withUnsafeBytes { receive($0, on: thread) }
                // An empty slice would keep all of the memory alive.
                if left > 0 { unread = waiting.suffix(left) }
            }
            while unread.isEmpty, !isPaused, receiver.allowance > 0, reads < Self.readsPerTurn,
                bytes < Self.bytesPerTurn
            {
                let progress =
                    first ?? link.outbound.withLock { outbound in outbound.stream?.read(into: thread.scratch) }
                first = nil
                switch progress {
                case nil: return
                case .wouldBlock:
                    if let writingError { lose(writingError, on: thread) }
                    return
                case .ended:
                    lose(
                        WebSocketError(
                            .connectionLost, "\(link.host) ended the connection without closing the WebSocket"),
                        on: thread)
                    return
                case .failed(let reason):
                    lose(
                        WebSocketError(.connectionLost, "The connection to \(link.host) was lost: \(reason)"),
                        on: thread)
                    return
                case .bytes(let count):
                    let piece = UnsafeRawBufferPointer(rebasing: thread.scratch[..<count])
                    let left = receive(piece, on: thread)
                    if left > 0 {
                        unread = Array(UnsafeRawBufferPointer(rebasing: piece.suffix(left)))[...]
                    } else if count < thread.scratch.count, !holdsBytes, !isEnding, writingError == nil {
                        // A read that did not fill the buffer emptied the socket. Later bytes cause a new event.
                        return
                    }
                    reads += 1
                    bytes += count
                }
            }
            // When a large message has been delivered, the loop is woken.
            if !isPaused { thread.callAgain(link.token) }
        }

        private var isPaused: Bool { isDelivering && !isLingering }

        /// Parses the bytes that were read, within the limit on frames.
        /// - Returns: The number of bytes at the end that are left for later.
        private func receive(_ bytes: UnsafeRawBufferPointer, on thread: SocketLoopThread) -> Int {
            guard !isLingering else { return 0 }
            var bytes = bytes
            let handler = handler
            let allowance = receiver.allowance
            defer {
                thread.messages += allowance - receiver.allowance
                // A large message is delivered by another thread, and its handler has seen those before it.
                if !isDelivering { handler?.readEnded() }
            }
            do throws(WebSocketViolation) {
                while !isDelivering, let incoming = try receiver.next(&bytes, offering: handler) {
                    switch incoming {
                    // The protocol above may be waiting for these bytes to complete the large text before them.
                    case .message(.binary(let message)) where hadLargeText || message.count >= Self.largeMessage:
                        deliverAside(message, isText: false)
                    case .message(let message): handler?.event(.message(message))
                    case .largeText(let text):
                        hadLargeText = true
                        deliverAside(text, isText: true)
                    case .ping(let payload): answer(payload, on: thread)
                    case .pong: break
                    case .close(let frame): act({ $0.receivedClose(frame) }, on: thread)
                    }
                }
            } catch {
                act({ $0.receivedViolation(error) }, on: thread)
            }
            return isLingering ? 0 : bytes.count
        }

        private func deliverAside(_ message: [UInt8], isText: Bool) {
            guard let handler else { return }
            isDelivering = true
            handler.readEnded()
            link.outbound.withLock { outbound in outbound.delivery = .waiting(message, isText: isText) }
            queue.async { [link] in link.deliver(to: handler) }
        }

        private func answer(_ ping: [UInt8], on thread: SocketLoopThread) {
            let progress: WebSocketOutbound.Progress = link.outbound.withLock { outbound in
                guard outbound.mayAnswerPings else { return .settled }
                return outbound.send(.pong, ping)
            }
            note(progress, on: thread)
        }

        // MARK: Ending

        /// Takes a step of the closing handshake. If it was the last one, reports the end to the handler.
        private func act(_ step: (inout WebSocketClosing) -> WebSocketClosing.Action, on thread: SocketLoopThread) {
            let (progress, ending) = link.outbound.withLock { outbound -> (WebSocketOutbound.Progress, Ending?) in
                let action = step(&outbound.closing)
                var progress = WebSocketOutbound.Progress.settled
                if let frame = action.send { progress = outbound.send(.close, frame.payload) }
                guard let closure = action.finish else { return (progress, nil) }
                let ending = Ending(closure: closure, handler: outbound.handler)
                outbound.closure = closure
                outbound.handler = nil
                return (progress, ending)
            }
            note(progress, on: thread)
            guard let ending else { return }
            isLingering = true
            thread.setDeadline(.now.advanced(by: Self.lingering), for: link.token)
            handler = nil
            if isDelivering {
                // The end is reported last, and never while another thread is still in the handler.
                queue.async { ending.handler?.event(.closed(ending.closure)) }
            } else {
                ending.handler?.event(.closed(ending.closure))
            }
        }

        private func lose(_ error: WebSocketError, on thread: SocketLoopThread) {
            act({ $0.lost(error) }, on: thread)
            end(on: thread)
        }

        private func end(on thread: SocketLoopThread) {
            thread.detach(link.token)
            let stream = link.outbound.withLock { outbound in
                defer { outbound.stream = nil }
                return outbound.stream
            }
            // Released outside the lock, because closing TLS writes to the socket.
            _ = stream
        }
    }
#endif
