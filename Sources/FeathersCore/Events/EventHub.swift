import FeathersSupport
import Synchronization

/// Delivers the events of a service or a connection to the buffer of each subscriber.
package final class EventHub<Event: BufferedEvent>: Sendable {
    private let subscriptions = Locked(EventSubscriptions<Event>())
    private let subscriberCount = Atomic<Int>(0)
    private let dropped = Atomic<Int>(0)
    private let received = Atomic<Int>(0)

    package init() {}

    /// Whether there are any subscribers. If not, events need not be created.
    package var hasSubscribers: Bool { subscriberCount.load(ordering: .acquiring) > 0 }

    /// Registers a subscriber synchronously, so that it receives every event after this call.
    /// - Parameters:
    ///   - names: The events to deliver; nil for all of them.
    ///   - limit: The number of events to buffer for a slow reader before the oldest are dropped; see ``EventBuffer``
    ///     for the byte limit.
    package func subscribe(to names: [Event.Name]?, bufferingNewest limit: Int) -> EventReading<Event> {
        let subscription = EventSubscription<Event>(names: names, bufferingNewest: limit)
        let number = change { $0.add(subscription) }
        // Set before the subscription is returned, so that it cannot end without this action.
        subscription.onEnd { [weak self] in
            self?.change { $0.remove(number) }
        }
        return EventReading(subscription)
    }

    /// Delivers an event.
    package func emit(_ event: Event) { emit(CollectionOfOne(event)) }

    /// Delivers events in order, and wakes each reader once. This happens outside the lock, because delivery resumes
    /// readers.
    func emit(_ events: some Sequence<Event>) {
        let subscriptions = subscriptions.withLock { $0 }
        guard subscriptions.count > 1 else { return deliver(events, to: subscriptions) }
        deliver(events.map(\.shared), to: subscriptions)
    }

    private func deliver(_ events: some Sequence<Event>, to subscriptions: EventSubscriptions<Event>) {
        for subscription in subscriptions.all { count(subscription.deliver(events)) }
    }

    private func change<Result: Sendable>(_ body: (inout EventSubscriptions<Event>) -> Result) -> Result {
        subscriptions.withLock { subscriptions in
            defer { subscriberCount.store(subscriptions.count, ordering: .releasing) }
            return body(&subscriptions)
        }
    }

    /// Delivers a gap to every subscriber.
    package func emit(_ gap: EventGap) {
        for subscription in subscriptions.withLock({ $0 }).all { count(subscription.deliver(gap)) }
    }

    private func count(_ dropped: Int) {
        if dropped > 0 { self.dropped.add(dropped, ordering: .relaxed) }
    }

    /// The number of subscribers, buffered items and dropped events, including events dropped for subscribers that have
    /// ended.
    var load: EventLoad {
        let subscriptions = subscriptions.withLock { $0 }
        return EventLoad(
            subscribers: subscriptions.count, received: received.load(ordering: .relaxed),
            waiting: subscriptions.all.reduce(0) { $0 + $1.waitingCount }, dropped: dropped.load(ordering: .relaxed))
    }

    /// Counts events that a server has sent, read or not.
    func countReceived(_ count: Int) { received.add(count, ordering: .relaxed) }
}

/// The counts of a hub.
struct EventLoad: Sendable {
    var subscribers = 0
    var received = 0
    var waiting = 0
    var dropped = 0

    mutating func add(_ other: EventLoad) {
        subscribers += other.subscribers
        received += other.received
        waiting += other.waiting
        dropped += other.dropped
    }
}

/// The subscribers of a hub, in the order of subscription.
///
/// They are in one array, sorted by increasing numbers. Removing a subscriber leaves a gap, and the array is compacted
/// when half of it is gaps, so that adding and removing take constant time on average.
struct EventSubscriptions<Event: BufferedEvent>: Sendable {
    private struct Place: Sendable {
        let number: Int
        var subscription: EventSubscription<Event>?
    }

    private var places: [Place] = []
    private var lastNumber = 0
    private(set) var count = 0

    /// The current subscribers, in order.
    var all: some Sequence<EventSubscription<Event>> { places.lazy.compactMap(\.subscription) }

    /// - Returns: The number that identifies the subscriber.
    mutating func add(_ subscription: EventSubscription<Event>) -> Int {
        lastNumber += 1
        places.append(Place(number: lastNumber, subscription: subscription))
        count += 1
        return lastNumber
    }

    /// Removes a subscriber. Does nothing if it was already removed.
    mutating func remove(_ number: Int) {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].number < number { low = middle + 1 } else { high = middle }
        }
        guard low < places.count, places[low].number == number, places[low].subscription != nil else { return }
        places[low].subscription = nil
        count -= 1
        if count < places.count / 2 { places.removeAll { $0.subscription == nil } }
    }
}
