#if os(Linux)
    import FeathersSupport
    import Testing

    @testable import FeathersNetworking

    @Suite("The thread of all WebSockets", .timeLimit(.minutes(10)))
    struct SocketLoopTests {
        private let loop: SocketLoop

        init() throws { loop = try SocketLoop.shared() }

        /// Calls a closure on the loop's thread.
        private func run<Success: Sendable>(_ body: @escaping @Sendable () -> Success) async throws -> Success {
            let result = Promise<Success>()
            loop.send(.call { result.resolve(body()) })
            return try await result.value()
        }

        @Test("is required: without one, there is no loop")
        func noThread() {
            #expect(throws: WebSocketError.self) { _ = try SocketLoop.start { _ in false } }
        }

        @Test("takes what many others send at once, and loses nothing")
        func wakeUps() async throws {
            let count = 20_000
            let total = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        var sum = 0
                        // One at a time, so that the thread waits in between.
                        for _ in 0..<count / 8 { sum += try await run { 1 } }
                        return sum
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(total == count)
        }

        @Test("is woken once for everything that is sent before it looks")
        func oneWakeUp() throws {
            // The test is the thread.
            let loop = try SocketLoop.start { _ in true }
            for token in 1...3 { loop.send(.wake(SocketLoop.Token(token))) }
            #expect(loop.take().count == 3)
            #expect(loop.take().isEmpty)
        }

        @Test("recurses as deeply as the thread pool's, because handlers parse nested values there")
        func stack() async throws {
            // At least 4 MB of the 8, where half a megabyte would not do.
            @Sendable @inline(never) func depth(_ left: Int) -> Int {
                withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { memory in
                    memory[0] = UInt8(truncatingIfNeeded: left)
                    return left == 0 ? Int(memory[0]) : depth(left - 1) + 1
                }
            }
            #expect(try await run { depth(4000) } == 4000)
        }

        @Test("outlives the connections that it served")
        func outlivesConnections() async throws {
            let isClosed = Promise<Void>()
            do {
                let (peer, connection) = try WebSocketPeer.connected()
                connection.start { if case .closed = $0 { isClosed.resolve(()) } }
                withExtendedLifetime(peer) {}
            }
            try await isClosed.value()
            #expect(try await run { 1 } == 1)
        }

        /// The bytes of a masked frame with a short text.
        private static let frame = 2 + 4 + 1

        @Test("writes what handlers send on it in their order, and a close frame after it")
        func sendingHandler() throws {
            let (peer, connection) = try WebSocketPeer.connected()
            connection.start { [unowned connection] event in
                guard case .message = event else { return }
                for number in 0..<10 { #expect(throws: Never.self) { try connection.sendNow(.text("\(number)")) } }
                connection.close(code: 1000, reason: "")
            }
            peer.deliver([.text("go")])
            let bytes = peer.receive(10 * Self.frame + 1)
            let texts = stride(from: 0, to: bytes.count - 1, by: Self.frame).map { bytes[$0 + 6] ^ bytes[$0 + 2] }
            #expect(texts == Array("0123456789".utf8) && bytes.last == 0x88)
            withExtendedLifetime(connection) {}
        }

        @Test("reports failed writing when the handler that sent has returned, and refuses later messages")
        func failingHandler() async throws {
            let (peer, connection) = try WebSocketPeer.connected()
            let closure = Promise<WebSocketClosure>()
            let hasReturned = Locked(false)
            connection.start { [unowned connection] event in
                switch event {
                case .closed(let reason):
                    #expect(hasReturned.withLock { $0 })
                    closure.resolve(reason)
                case .message:
                    // The loop writes them when the handler has returned.
                    for _ in 0..<2 { #expect(throws: Never.self) { try connection.sendNow(.text("x")) } }
                    hasReturned.withLock { $0 = true }
                }
            }
            peer.refuseWrites()
            peer.deliver([.text("go")])
            #expect(try await closure.value().error?.kind == .connectionLost)
            #expect {
                try connection.sendNow(.text("x"))
            } throws: {
                ($0 as? WebSocketError)?.kind == .closed
            }
        }
    }
#endif
