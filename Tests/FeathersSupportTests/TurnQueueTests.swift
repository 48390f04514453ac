import FeathersTesting
import Testing

@testable import FeathersSupport

@Suite("Turns")
struct TurnQueueTests {
    @Test("So many go, so many wait, and the rest is told that it is full")
    func entries() {
        var queue = TurnQueue<String>(limit: 2, capacity: 2)
        #expect((0..<5).map { queue.enter($0, "w\($0)") } == [.goes, .goes, .waits, .waits, .isFull])
        #expect(queue.enterAtOnce() == .isFull)
        #expect((queue.running, queue.waiting) == (2, 2))
    }

    @Test("Whoever has waited longest goes next, and nobody goes in between")
    func order() {
        var queue = TurnQueue<Int>(limit: 1, capacity: 10)
        for id in 0..<4 { _ = queue.enter(id, id) }
        #expect(queue.leave() == 1)
        #expect(queue.enter(4, 4) == .waits)
        #expect((0..<4).map { _ in queue.leave() } == [2, 3, 4, nil])
        #expect(queue.running == 0)
        #expect(queue.enterAtOnce() == .goes)
    }

    @Test("Whoever gives up is passed over, and makes room")
    func givingUp() {
        var queue = TurnQueue<Int>(limit: 1, capacity: 2)
        for id in 0..<3 { _ = queue.enter(id, id) }
        #expect(queue.giveUp(1) == 1)
        #expect(queue.giveUp(1) == nil)
        #expect(queue.enter(3, 3) == .waits)
        #expect((0..<3).map { _ in queue.leave() } == [2, 3, nil])
    }

    @Test(
        "Whatever happens, no more run than may, nobody is lost and everybody comes in order",
        arguments: 1...20 as ClosedRange<UInt64>)
    func anything(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = TurnQueue<Int>(limit: 3, capacity: 200)
        var (running, waiting, nextID) = (0, [Int](), 0)
        for _ in 0..<2000 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                nextID += 1
                let expected: TurnQueue<Int>.Entry = running < 3 ? .goes : waiting.count < 200 ? .waits : .isFull
                #expect(queue.enter(nextID, nextID) == expected)
                if expected == .goes { running += 1 }
                if expected == .waits { waiting.append(nextID) }
            case 2 where running > 0:
                let next = waiting.isEmpty ? nil : waiting.removeFirst()
                #expect(queue.leave() == next)
                if next == nil { running -= 1 }
            default:
                guard let id = waiting.randomElement(using: &random) else { continue }
                waiting.removeAll { $0 == id }
                #expect(queue.giveUp(id) == id)
            }
            #expect((queue.running, queue.waiting) == (running, waiting.count))
        }
    }
}
