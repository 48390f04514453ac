import FeathersTesting
import Testing

@testable import FeathersSupport

@Suite("The table of deadlines")
struct DeadlineTableTests {
    @Test("calls each key once, earliest first, and never early")
    func order() {
        let now = ContinuousClock.now
        var table = DeadlineTable<Int>()
        #expect(table.earliest == nil && table.due(at: now).isEmpty)
        table.set(now + .seconds(3), for: 3)
        table.set(now + .seconds(1), for: 1)
        table.set(now + .seconds(2), for: 2)
        #expect(table.earliest == now + .seconds(1))
        #expect(table.due(at: now + .milliseconds(999)).isEmpty)
        #expect(table.due(at: now + .seconds(2)) == [1, 2])
        #expect(table.earliest == now + .seconds(3))
        #expect(table.due(at: now + .seconds(9)) == [3])
        #expect(table.earliest == nil)
    }

    @Test("forgets a deadline that is replaced or taken back")
    func replacing() {
        let now = ContinuousClock.now
        var table = DeadlineTable<Int>()
        table.set(now + .seconds(1), for: 1)
        table.set(now + .seconds(5), for: 1)
        table.set(now + .seconds(1), for: 2)
        table.set(nil, for: 2)
        #expect(table.due(at: now + .seconds(2)).isEmpty)
        #expect(table.due(at: now + .seconds(5)) == [1])
    }

    @Test("finds the same deadlines as a list does", arguments: 0..<20 as Range<UInt64>)
    func comparison(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let now = ContinuousClock.now
        var table = DeadlineTable<Int>()
        var expected: [Int: ContinuousClock.Instant] = [:]
        for step in 0..<2_000 {
            let key = Int.random(in: 0..<200, using: &random)
            let deadline = now + .milliseconds(step + Int.random(in: 0..<500, using: &random))
            expected[key] = Int.random(in: 0..<3, using: &random) == 0 ? nil : deadline
            table.set(expected[key], for: key)
            guard step.isMultiple(of: 50) else { continue }
            let due = table.due(at: now + .milliseconds(step))
            let others = expected.filter { $0.value <= now + .milliseconds(step) }
            #expect(Set(due) == Set(others.keys) && due.map { others[$0] ?? now } == others.values.sorted())
            for key in others.keys { expected[key] = nil }
            if let next = expected.values.min() { #expect((table.earliest ?? next + .seconds(1)) <= next) }
        }
    }
}
