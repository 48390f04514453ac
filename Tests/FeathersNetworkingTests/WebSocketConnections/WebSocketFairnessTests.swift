#if os(Linux)
    import Dispatch
    import FeathersSupport
    import Foundation
    import Testing

    @testable import FeathersNetworking

    @Suite("WebSockets share a thread", .timeLimit(.minutes(10)))
    struct WebSocketFairnessTests {
        private struct Turns: Sendable {
            var taken = 0
            /// How many messages of the flood were taken when the other connection was sent a message, and when that
            /// came.
            var sent: [Int] = []
            var received: [Int] = []
        }

        @Test("and one that is flooded with small frames takes a turn at most before another gets its own")
        func flood() async throws {
            let count = 20_000
            let (flooding, flooded) = try WebSocketPeer.connected()
            let (asking, other) = try WebSocketPeer.connected()
            let turns = Locked(Turns())
            let isOver = Promise<Void>()
            // All of it fits into one read.
            flooding.deliver([ServerFrame](repeating: .text("x"), count: count))
            other.start { event in
                guard case .message = event else { return }
                turns.withLock { $0.received.append($0.taken) }
            }
            flooded.start { event in
                guard case .message = event else { return }
                let taken = turns.withLock { turns in
                    turns.taken += 1
                    if turns.taken % 1000 == 1 { turns.sent.append(turns.taken) }
                    return turns.taken
                }
                if taken % 1000 == 1 { asking.deliver([.text("?")]) }
                if taken == count { isOver.resolve(()) }
            }
            try await isOver.value()
            let seen = turns.withLock(\.self)
            #expect(seen.received.count == seen.sent.count)
            for (sent, received) in zip(seen.sent, seen.received) {
                #expect(received - sent <= WebSocketPump.framesPerTurn)
            }
            withExtendedLifetime((flooding, flooded, other)) {}
        }

        private static let large = [UInt8](repeating: UInt8(ascii: "x"), count: WebSocketPump.largeMessage + 1)

        /// A handler that stays in each large message until it is released.
        private final class SlowHandler: Sendable {
            let isInside = Promise<Void>()
            let isClosed = Promise<Void>()
            let events = Locked<[String]>([])
            let release = DispatchSemaphore(value: 0)

            func received(_ event: WebSocketEvent) {
                switch event {
                case .message(let message) where message.byteCount >= WebSocketPump.largeMessage:
                    isInside.resolve(())
                    // On the thread of all connections, nothing would release it.
                    let isReleased = release.wait(timeout: .now() + .seconds(120)) == .success
                    events.withLock { $0.append(isReleased ? "large" : "never released") }
                case .message(let message): events.withLock { $0.append("\(message.byteCount)") }
                case .closed(let closure):
                    events.withLock { $0.append("closed \(closure.code)") }
                    isClosed.resolve(())
                }
            }
        }

        /// Returns after the loop has come round twice: whatever was sent over other connections before, it has looked
        /// at.
        private func roundTrips() async throws {
            let (peer, connection) = try WebSocketPeer.connected()
            let (first, second) = (Promise<Void>(), Promise<Void>())
            connection.start { event in
                guard case .message(.text(let text)) = event else { return }
                _ = (text == "1" ? first : second).resolve(())
            }
            peer.deliver([.text("1")])
            try await first.value()
            peer.deliver([.text("2")])
            try await second.value()
            withExtendedLifetime(connection) {}
        }

        @Test(
            "which delivers no large message, and what follows on the same connection waits for it",
            arguments: [true, false])
        func largeMessage(isText: Bool) async throws {
            let (peer, connection) = try WebSocketPeer.connected()
            let handler = SlowHandler()
            connection.start { handler.received($0) }
            let large = ServerFrame(opcode: isText ? 1 : 2, payload: Self.large)
            peer.deliver([.text("a"), large, .text("bc"), .ping("p"), large, .binary([1, 2, 3]), .close(1000)])
            try await handler.isInside.value()
            try await roundTrips()
            #expect(handler.events.withLock(\.self) == ["1"])
            handler.release.signal()
            handler.release.signal()
            try await handler.isClosed.value()
            #expect(handler.events.withLock(\.self) == ["1", "large", "2", "large", "3", "closed 1000"])
            withExtendedLifetime((peer, connection)) {}
        }

        @Test("and one that ends while a large message is being delivered says so after it")
        func ending() async throws {
            let handler = SlowHandler()
            var connection: CurlWebSocketConnection?
            let peer: WebSocketPeer
            do {
                let (newPeer, opened) = try WebSocketPeer.connected()
                opened.start { handler.received($0) }
                peer = newPeer
                connection = opened
            }
            peer.deliver([.binary(Self.large), .text("never delivered")])
            try await handler.isInside.value()
            #expect(connection != nil)
            connection = nil
            try await roundTrips()
            #expect(handler.events.withLock(\.self).isEmpty)
            handler.release.signal()
            try await handler.isClosed.value()
            #expect(handler.events.withLock(\.self) == ["large", "closed 1006"])
            withExtendedLifetime(peer) {}
        }

        @Test("and a large text that is no UTF-8 ends its connection as a small one does")
        func invalidText() async throws {
            let (peer, connection) = try WebSocketPeer.connected()
            let socket = OpenedWebSocket(connection)
            peer.deliver([ServerFrame(opcode: 1, payload: Self.large + [0xFF]), .text("late")])
            guard case .closed(let closure) = await socket.next() else { return #expect(Bool(false)) }
            #expect(closure.code == 1006 && closure.error?.kind == .protocolViolation)
            withExtendedLifetime(peer) {}
        }
    }
#endif
