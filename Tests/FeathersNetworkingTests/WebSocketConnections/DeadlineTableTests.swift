import Testing

@testable import FeathersNetworking

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
}
