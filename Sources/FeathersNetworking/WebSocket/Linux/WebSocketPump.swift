import FeathersSupport

#if os(Linux)
    /// One connection on the loop's thread: reads, assembles messages, delivers them, and ends the connection.
    final class WebSocketPump: SocketListener {
        /// How much is read before others get their turn, in buffers.
        private static let turn = 16
        /// How long the peer may take to end the connection after the closing handshake, which is its part (RFC 6455, section 7.1.1).
        private static let lingering = Duration.seconds(1)

        private struct Ending: Sendable {
            var closure: WebSocketClosure
            var handler: (@Sendable (WebSocketEvent) -> Void)?
        }

        let descriptor: Int32
        private let holdsBytes: Bool
        private let link: WebSocketLink
        private var receiver: WebSocketReceiver
        /// What arrived with the opening handshake, until there is a handler.
        private var early: [UInt8]
        private var handler: (@Sendable (WebSocketEvent) -> Void)?
        private var isEnding = false
        /// The owner has been told the end; the socket only waits for the peer to end it too.
        private var isLingering = false
        private var hasDeadline = false
        private var writingError: WebSocketError?

        init(_ link: WebSocketLink, stream: any ByteStream, early: [UInt8], maximumMessageSize: Int) {
            self.link = link
            self.early = early
            // Read once: the stream itself must not outlive the connection's end.
            descriptor = stream.descriptor
            holdsBytes = stream.holdsBytes
            receiver = WebSocketReceiver(maximumMessageSize: maximumMessageSize)
        }

        func changed(isReadable: Bool, isEnding: Bool, on thread: SocketLoopThread) {
            if isEnding { self.isEnding = true }
            flush(on: thread, unblocking: true)
            if isReadable || writingError != nil { read(on: thread) }
        }

        func woken(on thread: SocketLoopThread) {
            let (handler, isAbandoned, isClosing) = link.outbound.withLock { outbound in
                (outbound.handler, outbound.isAbandoned, !outbound.closing.isOpen)
            }
            if self.handler == nil { self.handler = handler }
            if isClosing, !hasDeadline, !isLingering {
                hasDeadline = true
                thread.setDeadline(.now.advanced(by: link.closingTimeout), for: link.token)
            }
            flush(on: thread, unblocking: false)
            read(on: thread)
            if isAbandoned { act({ $0.abandoned() }, on: thread) }
        }

        func deadlinePassed(on thread: SocketLoopThread) {
            if !isLingering { act({ $0.deadlinePassed() }, on: thread) }
            end(on: thread)
        }

        func failed(on thread: SocketLoopThread) {
            lose(WebSocketError(.connectionLost, "The system cannot watch another socket"), on: thread)
        }

        // MARK: Writing

        private func flush(on thread: SocketLoopThread, unblocking: Bool) {
            let progress = link.outbound.withLock { outbound in
                if unblocking { outbound.unblock() }
                return outbound.flush()
            }
            note(progress, on: thread)
        }

        private func note(_ progress: WebSocketOutbound.Progress, on thread: SocketLoopThread) {
            switch progress {
            case .settled: break
            case .unfinished: thread.callAgain(link.token)
            case .failed(let error): writingError = error
            }
        }

        // MARK: Reading

        private func read(on thread: SocketLoopThread) {
            // Nothing is read before there is a handler, so that TCP slows the peer down.
            guard handler != nil || isLingering || writingError != nil else { return }
            if !early.isEmpty {
                let bytes = early
                early = []
                bytes.withUnsafeBytes { receive($0, on: thread) }
            }
            for _ in 0..<Self.turn {
                switch link.outbound.withLock({ outbound in outbound.stream?.read(into: thread.scratch) }) {
                case nil: return
                case .wouldBlock:
                    if let writingError { lose(writingError, on: thread) }
                    return
                case .ended:
                    lose(WebSocketError(.connectionLost, "\(link.host) ended the connection without closing the WebSocket"), on: thread)
                    return
                case .failed(let reason):
                    lose(WebSocketError(.connectionLost, "The connection to \(link.host) was lost: \(reason)"), on: thread)
                    return
                case .bytes(let count):
                    receive(UnsafeRawBufferPointer(rebasing: thread.scratch[..<count]), on: thread)
                    // A read that did not fill the buffer emptied the socket: whatever comes later is a new event.
                    if count < thread.scratch.count, !holdsBytes, !isEnding, writingError == nil { return }
                }
            }
            thread.callAgain(link.token)
        }

        private func receive(_ bytes: UnsafeRawBufferPointer, on thread: SocketLoopThread) {
            guard !isLingering else { return }
            var bytes = bytes
            do throws(WebSocketViolation) {
                while let incoming = try receiver.next(&bytes) {
                    switch incoming {
                    case .message(let message): handler?(.message(message))
                    case .ping(let payload): answer(payload, on: thread)
                    case .pong: break
                    case .close(let frame): act({ $0.receivedClose(frame) }, on: thread)
                    }
                }
            } catch {
                act({ $0.receivedViolation(error) }, on: thread)
            }
        }

        private func answer(_ ping: [UInt8], on thread: SocketLoopThread) {
            let progress: WebSocketOutbound.Progress = link.outbound.withLock { outbound in
                guard outbound.mayAnswerPings else { return .settled }
                return outbound.send(.pong, ping)
            }
            note(progress, on: thread)
        }

        // MARK: Ending

        /// Takes a step of the closing handshake; where that was the last one, tells the owner.
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
            ending.handler?(.closed(ending.closure))
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
            // Outside the lock: closing TLS writes.
            _ = stream
        }
    }
#endif
