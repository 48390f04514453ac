#if os(Linux)
    import Dispatch
    import FeathersSupport
    import Foundation
    import Testing

    @testable import FeathersNetworking

    @Suite("Messages sent on the network thread", .timeLimit(.minutes(10)))
    struct WebSocketGatheringTests {
        private let loop: SocketLoop

        init() throws { loop = try SocketLoop.shared() }

        /// The bytes of a masked frame with a short text.
        private static let frame = 2 + 4 + 1

        @Test("are written eight at a time, and the rest at the end of the turn", arguments: [1, 8, 20])
        func gathered(count: Int) async throws {
            let writes = Locked<[Int]>([])
            let (peer, connection) = try WebSocketPeer.connected(noting: writes)
            try await Task(executorPreference: loop) { for _ in 0..<count { try connection.sendNow(.text("x")) } }.value
            #expect(peer.receive(count * Self.frame).count == count * Self.frame)
            let limit = WebSocketOutbound.gatheringLimit
            let full = [Int](repeating: limit * Self.frame, count: count / limit)
            #expect(writes.withLock(\.self) == full + (count % limit == 0 ? [] : [count % limit * Self.frame]))
        }

        @Test("are written one by one from other threads")
        func notGathered() throws {
            let writes = Locked<[Int]>([])
            let (peer, connection) = try WebSocketPeer.connected(noting: writes)
            for _ in 0..<20 { try connection.sendNow(.text("x")) }
            #expect(peer.receive(20 * Self.frame).count == 20 * Self.frame)
            #expect(writes.withLock(\.self) == [Int](repeating: Self.frame, count: 20))
        }

        @Test("are gathered from other threads only if they may wait, and the thread sleeps so shortly that it will write them soon")
        func napping() throws {
            let writes = Locked<[Int]>([])
            // The test is the thread.
            let loop = try SocketLoop.start { _ in true }
            let (peer, connection) = try WebSocketPeer.connected(on: loop, noting: writes)
            func tokens() -> Int { loop.take().count { if case .wake = $0 { true } else { false } } }
            #expect(loop.wakeUp() && tokens() == 0)
            try connection.sendSoon(.text("x"))
            #expect(writes.withLock(\.self) == [Self.frame])
            loop.nap { #expect(throws: Never.self) { try connection.sendNow(.text("x")) } }
            #expect(writes.withLock(\.self) == [Self.frame, Self.frame] && loop.fallAsleep() && !loop.wakeUp())
            loop.nap { #expect(throws: Never.self) { for _ in 0..<9 { try connection.sendSoon(.text("x")) } } }
            #expect(writes.withLock(\.self) == [Self.frame, Self.frame, WebSocketOutbound.gatheringLimit * Self.frame])
            // The ninth is left to the thread, which must not fall asleep before.
            #expect(!loop.fallAsleep() && loop.wakeUp() && tokens() == 1)
            withExtendedLifetime(peer) {}
        }

        @Test("keep their order with those sent meanwhile by other threads")
        func order() async throws {
            let (peer, connection) = try WebSocketPeer.connected()
            try await Task(executorPreference: loop) {
                for number in 0..<6 {
                    if number % 2 == 0 {
                        try connection.sendNow(.text("\(number)"))
                    } else {
                        // The thread waits for another one, which finds the queue in use.
                        try DispatchQueue.global().sync { try connection.sendNow(.text("\(number)")) }
                    }
                }
            }.value
            let bytes = peer.receive(6 * Self.frame)
            let texts = stride(from: 0, to: bytes.count, by: Self.frame).map { bytes[$0 + 6] ^ bytes[$0 + 2] }
            #expect(texts == Array("012345".utf8))
        }

        @Test("are followed by a close frame that was requested in the same turn")
        func closing() async throws {
            let (peer, connection) = try WebSocketPeer.connected()
            try await Task(executorPreference: loop) {
                for _ in 0..<3 { try connection.sendNow(.text("x")) }
                connection.close(code: 1000, reason: "")
            }.value
            let bytes = peer.receive(3 * Self.frame + 1)
            #expect(bytes.last == 0x88)
        }

        @Test("and not written after all end the connection, and are not refused", arguments: [1, 8, 9])
        func writeError(count: Int) async throws {
            let (peer, connection) = try WebSocketPeer.connected()
            let socket = OpenedWebSocket(connection)
            peer.deliver([.text("read")])
            #expect(try await socket.text() == "read")
            peer.refuseWrites()
            // With nine, the ninth is sent after the eight before it have failed.
            let refused = await Task(executorPreference: loop) {
                (0..<count).filter { _ in (try? connection.sendNow(.text("x"))) == nil }
            }.value
            #expect(refused == (count == 9 ? [8] : []))
            #expect(try await socket.closure().error?.kind == .connectionLost)
        }
    }
#endif
