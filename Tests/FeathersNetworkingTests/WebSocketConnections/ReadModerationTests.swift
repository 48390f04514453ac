#if os(Linux)
    import FeathersSupport
    import Foundation
    import Testing

    @testable import FeathersNetworking

    @Suite("Moderated reads", .timeLimit(.minutes(10)))
    struct ReadModerationTests {
        /// The numbers of the turns, which come at these intervals in microseconds, after which the thread sleeps.
        private func sleeps(after intervals: [Int], reading messages: Int = 1, writing turns: Set<Int> = []) -> [Int] {
            var moderation = ReadModeration()
            var now = ContinuousClock.now
            return intervals.indices.filter { turn in
                now += .microseconds(intervals[turn])
                return moderation.sleeps(at: now, messages: messages, hasWritten: turns.contains(turn))
            }
        }

        private let close = [Int](repeating: 50, count: 20)

        @Test("begin after eight turns in a row that only read")
        func begins() { #expect(sleeps(after: close) == Array(9..<20)) }

        @Test("end with anything sent")
        func writes() { #expect(sleeps(after: close, writing: [12]) == Array(9..<12)) }

        @Test("never begin while calls are sent now and then")
        func calls() { #expect(sleeps(after: close, writing: [5, 13]).isEmpty) }

        @Test("do not sleep at low rates, which would only cost")
        func slow() {
            #expect(sleeps(after: [Int](repeating: 60, count: 20)).isEmpty)
            #expect(sleeps(after: close.prefix(12) + [60] + close.prefix(3)) == Array(9..<12))
            #expect(sleeps(after: close, reading: 0).isEmpty)
        }

        @Test("count several messages of a turn, but not many that were sent together")
        func together() {
            let intervals = [Int](repeating: 390, count: 20)
            #expect(sleeps(after: intervals, reading: 7).isEmpty)
            #expect(sleeps(after: intervals, reading: 8) == Array(9..<20))
            #expect(sleeps(after: intervals.map { $0 + 20 }, reading: 64).isEmpty)
        }

        @Test("are made unless anyone reads at once")
        func atOnce() throws {
            let loop = try SocketLoop.start { _ in true }
            #expect(loop.moderatesReads)
            for _ in 0..<2 { loop.readAtOnce(true) }
            loop.readAtOnce(false)
            #expect(!loop.moderatesReads)
            loop.readAtOnce(false)
            #expect(loop.moderatesReads)
        }

        @Test("deliver every message, in order, and calls in between get their responses")
        func delivery() async throws {
            let loop = try SocketLoop.shared()
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
