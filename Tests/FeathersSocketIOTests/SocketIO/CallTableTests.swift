import Testing

@testable import FeathersSocketIO

@Suite("The table of calls")
struct CallTableTests {
    private func frame(_ id: Int) -> EngineFrame { EngineFrame(text: "42\(id)[]", call: id) }

    @Test("gives each acknowledgement to its call, once, in any order")
    func acknowledgements() {
        var table = CallTable<String>()
        for id in 0..<3 { table.addSent(id, waiter: "w\(id)", frame: frame(id), deadline: nil) }
        #expect(table.acknowledged(2) == "w2")
        #expect(table.acknowledged(0) == "w0")
        #expect(table.acknowledged(2) == nil)
        #expect(table.acknowledged(99) == nil)
        #expect(table.acknowledged(1) == "w1")
        #expect(table.count == 0)
    }

    @Test("keeps no deadlines of acknowledged calls, whatever their order")
    func acknowledgedDeadlines() {
        var table = CallTable<String>()
        for id in 0..<3 { table.addSent(id, waiter: "w\(id)", frame: frame(id), deadline: .seconds(id)) }
        for id in [1, 0] { _ = table.acknowledged(id) }
        #expect(table.deadlines.count == 1 && table.nextDeadline == .seconds(2))
        _ = table.acknowledged(2)
        #expect(table.deadlines.count == 0)
    }

    @Test("queues in order up to its limit, and acknowledges nothing that was not sent")
    func queue() {
        var table = CallTable<String>(queueLimit: 2)
        let isAdded1 = table.addQueued(0, waiter: "a", frame: frame(0), deadline: nil)
        #expect(isAdded1 == true)
        let isAdded2 = table.addQueued(1, waiter: "b", frame: frame(1), deadline: nil)
        #expect(isAdded2 == true)
        let isAdded3 = table.addQueued(2, waiter: "c", frame: frame(2), deadline: nil)
        #expect(isAdded3 == false)
        #expect(table.acknowledged(0) == nil)
        let taken = table.takeQueue(limit: 100)
        #expect(taken.frames == [frame(0), frame(1)] && taken.refused.isEmpty)
        #expect(table.acknowledged(0) == "a")
        #expect(table.queued == 0)
        #expect(table.takeQueue(limit: 100).frames.isEmpty)
    }

    @Test("queues up to its limit of bytes in each lane, and counts what left as gone")
    func queueBytes() {
        var table = CallTable<String>(byteLimit: 10)
        func add(_ id: Int, _ size: Int, _ lane: CallTable<String>.Lane = .ordinary) -> Bool {
            let frame = EngineFrame(text: String(repeating: "x", count: size), call: id)
            return table.addQueued(id, waiter: "\(id)", frame: frame, deadline: nil, lane: lane)
        }
        var taken = [add(0, 6), add(1, 5), add(2, 4), add(3, 1), add(4, 10, .session)]
        #expect(taken == [true, false, true, false, true])
        #expect(table.cancelled(2) != nil)
        taken = [add(5, 5), add(6, 4)]
        #expect(taken == [false, true])
        // What goes back to its lane with a lost connection takes room there again.
        #expect(table.takeQueue(limit: 100).frames.count == 2)
        #expect(table.connectionLost(unsent: [0, 6]).isEmpty)
        taken = [add(7, 1)]
        #expect(taken == [false])
        #expect(table.takeQueue(limit: 100).frames.count == 2)
        taken = [add(8, 10)]
        #expect(taken == [true])
    }

    @Test("takes out what turns out to be too large for the server")
    func oversized() {
        var table = CallTable<String>()
        _ = table.addQueued(0, waiter: "a", frame: EngineFrame(text: "420[123456]", call: 0), deadline: nil)
        _ = table.addQueued(1, waiter: "b", frame: frame(1), deadline: nil)
        let taken = table.takeQueue(limit: 8)
        #expect(taken.frames == [frame(1)] && taken.refused.map(\.call.waiter) == ["a"])
        #expect(table.count == 1)
    }

    @Test("has a lane for calls about the session, which has room, order and losses of its own")
    func lanes() {
        var table = CallTable<String>(queueLimit: 1)
        _ = table.addQueued(0, waiter: "a", frame: frame(0), deadline: nil)
        let hasRoom = table.addQueued(1, waiter: "b", frame: frame(1), deadline: nil, lane: .session)
        #expect(hasRoom && table.queued == 2)
        #expect(table.takeQueue(.session, limit: 100).frames == [frame(1)])
        #expect(table.takeQueue(.session, limit: 100).frames.isEmpty)
        #expect(table.connectionLost(unsent: [1]).isEmpty)
        let isFull = table.addQueued(2, waiter: "c", frame: frame(2), deadline: nil, lane: .session)
        #expect(!isFull && table.queued == 2)
        #expect(table.takeQueue(.ordinary, limit: 100).frames == [frame(0)])
        #expect(table.takeQueue(.session, limit: 100).frames == [frame(1)])
    }

    @Test("gives out waiting calls that match, and none that was sent")
    func takeUnsent() {
        var table = CallTable<String>(queueLimit: 2)
        table.addSent(0, waiter: "x", frame: frame(0), deadline: nil)
        _ = table.addQueued(1, waiter: "x", frame: frame(1), deadline: nil)
        _ = table.addQueued(2, waiter: "y", frame: frame(2), deadline: nil)
        _ = table.addQueued(3, waiter: "x", frame: frame(3), deadline: nil, lane: .session)
        #expect(table.takeUnsent { $0.waiter == "x" }.map(\.frame) == [frame(1), frame(3)])
        #expect(table.queued == 1 && table.acknowledged(0) == "x")
        #expect(table.takeQueue(limit: 100).frames == [frame(2)])
    }

    @Test("loses what was sent with its connection and keeps what was not, in order")
    func connectionLost() {
        var table = CallTable<String>()
        for id in 0..<4 { table.addSent(id, waiter: "w\(id)", frame: frame(id), deadline: nil) }
        _ = table.addQueued(4, waiter: "w4", frame: frame(4), deadline: nil)
        #expect(table.connectionLost(unsent: [2, 3]).map(\.waiter) == ["w0", "w1"])
        #expect(table.takeQueue(limit: 100).frames == [2, 3, 4].map(frame))
        #expect(table.connectionLost(unsent: []).map(\.waiter) == ["w2", "w3", "w4"])
        #expect(table.count == 0)
    }

    @Test("gives a volatile call up with its connection, and remembers whether it was sent")
    func volatile() {
        var table = CallTable<String>()
        for id in 0..<2 { table.addSent(id, waiter: "w\(id)", frame: frame(id), deadline: nil, isVolatile: true) }
        let lost = table.connectionLost(unsent: [1])
        #expect(lost.map(\.waiter) == ["w0", "w1"] && lost.map(\.unsent) == [nil, frame(1)])
        #expect(table.count == 0 && table.queued == 0)
    }

    @Test("forgets a cancelled call, queued or sent")
    func cancellation() {
        var table = CallTable<String>(queueLimit: 1)
        table.addSent(0, waiter: "a", frame: frame(0), deadline: nil)
        _ = table.addQueued(1, waiter: "b", frame: frame(1), deadline: nil)
        #expect(table.cancelled(0)?.unsent == nil)
        #expect(table.cancelled(1)?.unsent == frame(1))
        #expect(table.cancelled(1) == nil)
        let isAdded4 = table.addQueued(2, waiter: "c", frame: frame(2), deadline: nil)
        #expect(isAdded4 == true)
        #expect(table.takeQueue(limit: 100).frames == [frame(2)])
        #expect(table.acknowledged(0) == nil)
    }

    @Test("gives up exactly what is overdue, sent or not")
    func deadlines() {
        var table = CallTable<String>()
        table.addSent(0, waiter: "a", frame: frame(0), deadline: .seconds(10))
        _ = table.addQueued(1, waiter: "b", frame: frame(1), deadline: .seconds(5))
        table.addSent(2, waiter: "c", frame: frame(2), deadline: nil)
        table.addSent(3, waiter: "d", frame: frame(3), deadline: .seconds(20))
        #expect(table.nextDeadline == .seconds(5))
        #expect(table.expired(at: .seconds(4)).isEmpty)
        #expect(table.expired(at: .seconds(10)).map(\.waiter) == ["b", "a"])
        #expect(table.nextDeadline == .seconds(20))
        #expect(table.acknowledged(3) == "d")
        #expect(table.expired(at: .seconds(100)).isEmpty)
        #expect(table.nextDeadline == nil && table.count == 1)
    }

    @Test("keeps no trace of a million calls that were answered in time")
    func bounded() {
        var heap = DeadlineHeap()
        for id in 0..<1_000 { heap.insert(.milliseconds((id * 7_919) % 1_000), for: id) }
        var last = Duration.zero
        while let entry = heap.removeFirst(notAfter: .seconds(2)) {
            #expect(entry.deadline >= last)
            last = entry.deadline
        }
        #expect(heap.count == 0)
        var table = CallTable<Int>()
        for id in 0..<20_000 {
            table.addSent(id, waiter: id, frame: frame(id), deadline: .seconds(id))
            _ = table.acknowledged(id)
        }
        #expect(table.deadlines.count <= 66)
    }
}

extension CallTable {
    /// Takes a lane, and refuses frames with more bytes than the limit.
    fileprivate mutating func takeQueue(
        _ lane: Lane = .ordinary, limit: Int
    ) -> (frames: [EngineFrame], refused: [(call: Call, why: Int)]) {
        takeQueue(lane) { $0.frame.size > limit ? $0.frame.size : nil }
    }
}
