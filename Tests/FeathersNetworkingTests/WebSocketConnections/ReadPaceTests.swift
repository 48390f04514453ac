#if os(Linux)
    import FeathersSupport
    import Foundation
    import Testing

    @testable import FeathersNetworking

    @Suite("The pace of reads", .timeLimit(.minutes(10)))
    struct ReadPaceTests {
        /// The numbers of the turns, which come at these intervals in microseconds, after which the thread sleeps.
        private func naps(after intervals: [Int], read: Int = 1, sent: [Int: Int] = [:]) -> [Int] {
            var pace = ReadPace()
            var now = ContinuousClock.now
            _ = pace.naps(at: now, read: 1, sent: 0)
            return intervals.indices.filter { turn in
                now += .microseconds(intervals[turn])
                return pace.naps(at: now, read: read, sent: sent[turn] ?? 0)
            }
        }

        private let close = [Int](repeating: 50, count: 20)
        private let eachTurn = Dictionary(uniqueKeysWithValues: (0..<40).map { ($0, 1) })

        @Test("has naps after eight turns in a row whose messages are close")
        func begins() { #expect(naps(after: close) == Array(8..<20)) }

        @Test("has none at low rates, which would only cost")
        func slow() {
            #expect(naps(after: [Int](repeating: 60, count: 20)).isEmpty)
            #expect(naps(after: close.prefix(12) + [60] + close.prefix(3)) == Array(8..<12))
            #expect(naps(after: close, read: 0).isEmpty)
        }

        @Test("does not count turns in which nothing was read or sent")
        func empty() {
            var pace = ReadPace()
            var now = ContinuousClock.now
            let naps = (0..<30).map { turn in
                now += .microseconds(25)
                return pace.naps(at: now, read: turn % 2, sent: 0)
            }
            #expect(naps.indices.filter { naps[$0] } == Array(stride(from: 19, to: 30, by: 2)))
        }

        @Test("counts several messages of a turn, but not many that were sent together")
        func together() {
            let intervals = [Int](repeating: 390, count: 20)
            #expect(naps(after: intervals, read: 7).isEmpty)
            #expect(naps(after: intervals, read: 8) == Array(8..<20))
            #expect(naps(after: intervals.map { $0 + 20 }, read: 64).isEmpty)
        }

        @Test("has none while a few callers wait, and some while many do", arguments: [1, 2, 15, 16, 64])
        func callers(inFlight: Int) {
            // A call is sent for each response.
            var sent = eachTurn
            sent[0] = inFlight + 1
            #expect(naps(after: close, sent: sent).isEmpty == (inFlight < 16))
        }

        @Test("forgets calls without a response after a while")
        func forgotten() {
            #expect(naps(after: close + [20_000] + close, sent: [0: 100, 10: 40]).contains { $0 > 21 })
            #expect(naps(after: close, sent: [0: 30]).allSatisfy { $0 <= 14 })
        }

        @Test("takes mail that comes during a nap, without another wake-up")
        func mail() throws {
            // The test is the thread.
            let loop = try SocketLoop.start { _ in true }
            loop.nap { loop.send(.wake(1)) }
            #expect(!loop.fallAsleep())
            #expect(loop.wakeUp())
            #expect(loop.take().count == 1)
            var slept = false
            loop.send(.wake(2))
            loop.nap { slept = true }
            #expect(!slept)
            #expect(loop.wakeUp())
            #expect(loop.fallAsleep())
            #expect(!loop.wakeUp())
        }

        @Test("has messages sent together while it is awake or naps, and others at once")
        func gathering() throws {
            let loop = try SocketLoop.start { _ in true }
            #expect(loop.noteSending())
            loop.nap {
                #expect(loop.noteSending())
            }
            #expect(loop.fallAsleep())
            #expect(!loop.noteSending())
            #expect(loop.takeSent() == 3)
        }

        @Test("loses and reorders nothing")
        func delivery() async throws {
            let (peer, connection) = try WebSocketPeer.connected()
            let (texts, continuation) = AsyncStream.makeStream(of: String.self)
            connection.start { event in if case .message(.text(let text)) = event { continuation.yield(text) } }
            let count = 5_000
            let server = Task.detached {
                // Each by itself, as servers write.
                for number in 0..<count { peer.deliver([.text("\(number)")]) }
                // A frame of one masked byte.
                var received: [UInt8] = []
                for _ in 0..<count {
                    let frame = peer.receive(7)
                    received.append(frame.count == 7 ? frame[6] ^ frame[2] : 0)
                }
                return received
            }
            var iterator = texts.makeAsyncIterator()
            for number in 0..<count {
                #expect(await iterator.next() == "\(number)")
                try connection.sendNow(.text("\(number % 10)"))
            }
            let sent = (0..<count).map { UInt8(ascii: "0") + UInt8($0 % 10) }
            #expect(await server.value == sent)
            withExtendedLifetime(connection) {}
        }
    }
#endif
