import FeathersSupport
import Testing

@testable import FeathersCore

@Suite("What a reader has drained", .timeLimit(.minutes(10)))
struct DrainedEventsTests {
    private typealias Subscription = EventSubscription<ServiceEvent>

    private static func events(_ numbers: ClosedRange<Int64>) -> [ServiceEvent] {
        numbers.map { ServiceEvent(path: "", name: "n", data: .integer($0)) }
    }

    /// An item as a word.
    private static func word(_ item: Subscription.Item?) -> String? {
        switch item {
        case .event(let event): "\(event.data)"
        case .gap(let gap): if case .overflow(let dropped) = gap.reason { "-\(dropped)" } else { "gap" }
        case nil: nil
        }
    }

    private static func words(_ numbers: ClosedRange<Int>) -> [String] { numbers.map { "\($0)" } }

    private static func unread(by subscription: Subscription) -> [String] {
        var words: [String] = []
        while let word = word(subscription.nextWaiting()) { words.append(word) }
        return words
    }

    @Test("stays readable when the buffer overflows; the oldest of the others are dropped, with a marker there")
    func overflow() {
        let subscription = Subscription(names: nil, bufferingNewest: 3)
        #expect(subscription.deliver(Self.events(1...3)) == 0)
        #expect(Self.word(subscription.nextWaiting()) == "1")
        #expect(subscription.deliver(Self.events(4...8)) == 2)
        #expect(subscription.waitingCount == 5)
        #expect(Self.unread(by: subscription) == ["2", "3", "-2", "6", "7", "8"])
        #expect(subscription.waitingCount == 0)
    }

    @Test("is at most 64 items, so that a reader may have these and its limit unread", arguments: [1, 64, 65, 200])
    func bound(limit: Int) {
        let subscription = Subscription(names: nil, bufferingNewest: limit)
        var dropped = subscription.deliver(Self.events(1...500))
        // A marker, if events are missing, and then the drained ones.
        #expect(Self.word(subscription.nextWaiting()) == "-\(500 - limit)")
        dropped += subscription.deliver(Self.events(501...1_000))
        #expect(subscription.waitingCount <= limit + 64)
        let unread = Self.unread(by: subscription)
        #expect(unread.suffix(limit) == Self.words((1_001 - limit)...1_000)[...])
        #expect(unread.count { !$0.hasPrefix("-") } == 1_000 - dropped)
        #expect(unread.count { $0.hasPrefix("-") } == 1)
    }

    @Test("is void when the user changes, and what follows the marker is not")
    func identityChanged() {
        let subscription = Subscription(names: nil, bufferingNewest: 100)
        _ = subscription.deliver(Self.events(1...10))
        #expect(Self.word(subscription.nextWaiting()) == "1")
        _ = subscription.deliver(EventGap(reason: .identityChanged))
        _ = subscription.deliver(Self.events(11...12))
        #expect(Self.unread(by: subscription) == ["gap", "11", "12"])
    }

    @Test("survives other markers, which stand where they were put")
    func markers() {
        let subscription = Subscription(names: nil, bufferingNewest: 100)
        _ = subscription.deliver(Self.events(1...3))
        #expect(Self.word(subscription.nextWaiting()) == "1")
        _ = subscription.deliver(EventGap(reason: .reconnected))
        _ = subscription.deliver(Self.events(4...4))
        #expect(Self.unread(by: subscription) == ["2", "3", "gap", "4"])
    }

    @Test("belongs to whoever reads next, so that a reader that stops takes only what it has read")
    func stopping() async throws {
        let service = FeathersApp().service("n")
        let stream = service.events("n")
        for number in 1...100 { service.emit("n", .integer(Int64(number))) }
        #expect(try await stream.first() == 1)
        #expect(await stream.taking(99) == (2...100).map { .integer(Int64($0)) })
    }

    @Test("goes with the stream that a cancelled task read; other streams lose nothing")
    func cancelling() async throws {
        let service = FeathersApp().service("n")
        let (stream, other) = (service.events("n"), service.events("n"))
        for number in 1...100 { service.emit("n", .integer(Int64(number))) }
        let reader = Task {
            let first = try await stream.first()
            withUnsafeCurrentTask { $0?.cancel() }
            for await _ in stream { Issue.record("a cancelled reader reads nothing") }
            return first
        }
        #expect(try await reader.value == 1)
        #expect(await stream.taking(1).isEmpty)
        #expect(await other.taking(100) == (1...100).map { .integer(Int64($0)) })
    }

    @Test("reaches two tasks that read one stream exactly once, and they are warned")
    func twoReaders() async throws {
        let app = FeathersApp()
        let warnings = Locked(0)
        app.use(diagnostics: .closure { _ in warnings.withLock { $0 += 1 } }, levels: DiagnosticLevels(.warning))
        let service = app.service("n")
        let (stream, last) = (service.events("n"), 50_000)
        let seen = await withTaskGroup(of: [Int64].self) { group in
            for _ in 0..<2 {
                group.addTask {
                    var seen: [Int64] = []
                    for await number in stream {
                        guard let number = number.integer, number > 0 else { break }
                        seen.append(number)
                    }
                    return seen
                }
            }
            group.addTask {
                for number in 1...last { service.emit("n", .integer(Int64(number))) }
                // One end for each reader, however often they wait.
                for _ in 0..<2 { service.emit("n", 0) }
                return []
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        let missing = service.app.metrics.events.first?.dropped ?? 0
        #expect(Set(seen).count == seen.count)
        #expect(seen.count == last - missing)
        #expect(warnings.withLock { $0 } <= 1)
    }

    @Test("comes to all readers in one order, however large the reads are", arguments: [1, 3, 64, 65, 300])
    func order(burst: Int) async {
        let hub = EventHub<ServiceEvent>()
        let readers = (0..<10).map { _ in hub.subscribe(to: nil, bufferingNewest: 10_000).serviceEvents() }
        let expected = (1...3_000).map { JSONValue.integer(Int64($0)) }
        await withTaskGroup(of: [JSONValue].self) { group in
            for reader in readers { group.addTask { await reader.taking(3_000).map(\.data) } }
            var first: Int64 = 1
            while first <= 3_000 {
                let last = min(first + Int64(burst) - 1, 3_000)
                hub.emit(Self.events(first...last))
                first = last + 1
            }
            for await seen in group { #expect(seen == expected) }
        }
    }

    @Test("is counted as waiting by the app's metrics")
    func metrics() async {
        let service = FeathersApp().service("n")
        let stream = service.events("n", bufferingNewest: 70)
        for number in 1...100 { service.emit("n", .integer(Int64(number))) }
        var iterator = stream.makeAsyncIterator()
        #expect(await iterator.next() == 31)
        #expect(service.app.metrics.events.first?.waiting == 69)
        #expect(service.app.metrics.events.first?.dropped == 30)
    }
}
