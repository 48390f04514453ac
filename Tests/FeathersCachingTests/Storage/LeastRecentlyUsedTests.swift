import Testing

@testable import FeathersCaching

@Suite("The order of use")
struct LeastRecentlyUsedTests {
    @Test("Any operations do what a plain list would", arguments: 0..<20 as Range<UInt64>)
    func model(_ seed: UInt64) {
        var random = LinearCongruence(state: seed)
        var used = LeastRecentlyUsed<Int, Int>()
        /// The oldest first.
        var list: [(key: Int, value: Int)] = []
        for step in 0..<2000 {
            let key = Int.random(in: 0..<12, using: &random)
            let place = list.firstIndex { $0.key == key }
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                let former = place.map { list.remove(at: $0).value }
                list.append((key, step))
                #expect(used.set(step, for: key) == former)
            case 2:
                if let place { list.append(list.remove(at: place)) }
                #expect(used.use(key) == place.flatMap { _ in list.last?.value })
            case 3:
                #expect(used.remove(key) == place.map { list.remove(at: $0).value })
            default:
                #expect(used.peek(key) == place.map { list[$0].value })
            }
            #expect(used.count == list.count)
            #expect(used.oldestKey == list.first?.key)
        }
        while let oldest = used.oldestKey {
            #expect(oldest == list.removeFirst().key)
            used.remove(oldest)
        }
        #expect(list.isEmpty)
    }
}

/// Chance that repeats itself (Knuth's MMIX).
struct LinearCongruence: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 32
    }
}
