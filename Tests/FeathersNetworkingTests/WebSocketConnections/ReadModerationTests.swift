#if os(Linux)
    import FeathersSupport
    import Foundation
    import Testing

    @testable import FeathersNetworking

    @Suite("Moderated reads", .timeLimit(.minutes(10)))
    struct ReadModerationTests {
        /// The numbers of the turns, which come at these intervals in microseconds, after which the thread sleeps.
        private func sleeps(after intervals: [Int], writing turns: Set<Int> = []) -> [Int] {
            var moderation = ReadModeration()
            var now = ContinuousClock.now
            return intervals.indices.filter { turn in
                now += .microseconds(intervals[turn])
                return moderation.sleeps(at: now, hasWritten: turns.contains(turn))
            }
        }

        private let close = [Int](repeating: 100, count: 20)

        @Test("begin after eight turns in a row that only read")
        func begins() { #expect(sleeps(after: close) == Array(9..<20)) }

        @Test("end with anything sent")
        func writes() { #expect(sleeps(after: close, writing: [12]) == Array(9..<12)) }

        @Test("never begin while calls are sent now and then")
        func calls() { #expect(sleeps(after: close, writing: [5, 13]).isEmpty) }

        @Test("do not sleep at low rates, which would only cost")
        func slow() {
            #expect(sleeps(after: [Int](repeating: 600, count: 20)).isEmpty)
            #expect(sleeps(after: close.prefix(12) + [600] + close.prefix(3)) == Array(9..<12))
        }

        @Test("deliver every message, in order, and calls in between get their responses")
        func delivery() async throws {
            let loop = try SocketLoop.shared()
            loop.moderateReads(true)
            defer { loop.moderateReads(false) }
            let (peer, connection) = try WebSocketPeer.connected()
            let (texts, continuation) = AsyncStream.makeStream(of: String.self)
            connection.start { event in if case .message(.text(let text)) = event { continuation.yield(text) } }
            let count = 5_000
            let isRead = Promise<Void>()
            let server = Task.detached {
                // Each by itself, as servers write.
                for number in 0..<count { peer.deliver([.text("\(number)")]) }
                try await isRead.value()
                for number in 0..<20 where !peer.receive(7).isEmpty { peer.deliver([.text("\(number)")]) }
            }
            try await Task(executorPreference: loop) {
                var iterator = texts.makeAsyncIterator()
                for number in 0..<count { #expect(await iterator.next() == "\(number)") }
                isRead.resolve(())
                for number in 0..<20 {
                    try connection.sendNow(.text("?"))
                    #expect(await iterator.next() == "\(number)")
                }
            }.value
            try await server.value
        }
    }
#endif
