import Testing

@testable import FeathersCore

@Suite("The subscribers of a hub")
struct EventSubscriptionsTests {
    private static func subscribers(_ count: Int) -> [EventSubscription<ServiceEvent>] {
        (0..<count).map { _ in EventSubscription(names: nil, bufferingNewest: 1) }
    }

    @Test(
        "Who stays keeps the order, whoever goes and however many",
        arguments: [[], [0], [9], [4, 5], [0, 1, 2, 3, 4, 5, 6, 7, 8], [9, 8, 7, 6, 5, 4, 3], Array(0..<10)])
    func order(leaving: [Int]) {
        let all = Self.subscribers(10)
        var subscriptions = EventSubscriptions<ServiceEvent>()
        let numbers = all.map { subscriptions.add($0) }
        for index in leaving { subscriptions.remove(numbers[index]) }
        let remaining = all.indices.filter { !leaving.contains($0) }.map { ObjectIdentifier(all[$0]) }
        #expect(subscriptions.all.map { ObjectIdentifier($0) } == remaining)
        #expect(subscriptions.count == remaining.count)
    }

    @Test("Who comes later stands last, also where others have gone")
    func coming() {
        let all = Self.subscribers(6)
        var subscriptions = EventSubscriptions<ServiceEvent>()
        let numbers = all.prefix(4).map { subscriptions.add($0) }
        for number in numbers.prefix(3) { subscriptions.remove(number) }
        let later = all.suffix(2).map { subscriptions.add($0) }
        #expect(subscriptions.all.map { ObjectIdentifier($0) } == all.suffix(3).map { ObjectIdentifier($0) })
        for number in later + [numbers[3]] { subscriptions.remove(number) }
        #expect(subscriptions.count == 0)
    }

    @Test("Who has gone cannot go again")
    func twice() {
        let all = Self.subscribers(3)
        var subscriptions = EventSubscriptions<ServiceEvent>()
        let numbers = all.map { subscriptions.add($0) }
        for _ in 0..<2 { subscriptions.remove(numbers[1]) }
        subscriptions.remove(4711)
        #expect(subscriptions.count == 2)
    }
}
