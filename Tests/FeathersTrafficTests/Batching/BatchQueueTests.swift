import Testing

@testable import FeathersTraffic

@Suite("Batches")
struct BatchQueueTests {
    private func queue(limit: Int = 3) -> BatchQueue<String, String> { BatchQueue(limit: limit, window: .seconds(1)) }

    @Test("The first opens a batch, others join it, the last one that fits fills it")
    func joining() {
        var queue = queue()
        #expect(queue.join(1, "a", "x", at: .zero) == .opened(batch: 1))
        #expect(queue.join(2, "b", "y", at: .zero) == .opened(batch: 2))
        #expect(queue.join(3, "c", "x", at: .zero) == .joined(batch: 1))
        #expect(queue.closingMoment(of: 1) == .seconds(1))
        #expect(queue.join(4, "d", "x", at: .zero) == .filled(batch: 1))
        #expect(queue.closingMoment(of: 1) == nil)
        #expect(queue.join(5, "e", "x", at: .seconds(3)) == .opened(batch: 3))
        #expect(queue.closingMoment(of: 3) == .seconds(4))
        #expect(queue.close(1).map(\.member) == ["a", "c", "d"])
        #expect(queue.close(2).map(\.id) == [2])
        #expect(queue.close(3).map(\.id) == [5])
        #expect(queue.isEmpty)
    }

    @Test("A closed batch takes no more")
    func closed() {
        var queue = queue()
        _ = queue.join(1, "a", "x", at: .zero)
        _ = queue.close(1)
        #expect(queue.leave(1) == .none)
        #expect(queue.join(2, "b", "x", at: .zero) == .opened(batch: 2))
    }

    @Test("Whoever collects hands over when it leaves; with the last one the batch is gone")
    func leaving() {
        var queue = queue(limit: 10)
        for id in 1...4 { _ = queue.join(id, "m\(id)", "x", at: .zero) }
        #expect(queue.leave(3) == .left)
        #expect(queue.leave(1) == .handedOver(to: 2))
        #expect(queue.leave(1) == .none)
        #expect(queue.leave(2) == .handedOver(to: 4))
        #expect(queue.join(5, "m5", "x", at: .zero) == .joined(batch: 1))
        #expect(queue.leave(5) == .left)
        #expect(queue.leave(4) == .left)
        #expect(queue.isEmpty)
    }

    @Test("A limit of one gathers nothing")
    func one() {
        var queue = queue(limit: 1)
        #expect(queue.join(1, "a", "x", at: .zero) == .opened(batch: 1))
        #expect(queue.closingMoment(of: 1) == nil)
        #expect(queue.join(2, "b", "x", at: .zero) == .opened(batch: 2))
    }
}
