import FeathersSupport
import Synchronization

/// Hands events, of one service or of a connection, to every subscriber's own buffer.
package final class EventHub<Event: BufferedEvent>: Sendable {
    private let subscriptions = Locked(EventSubscriptions<Event>())
    private let dropped = Atomic<Int>(0)

    package init() {}

    /// Whether anybody listens; events nobody hears need not be made.
    package var hasSubscribers: Bool {
        subscriptions.withLock { $0.count > 0 }
    }

    /// Registers a subscriber before it returns, so that no event after it is missed.
    /// - Parameters:
    ///   - names: the events to deliver; nil for every one.
    ///   - limit: how many events wait for a slow reader before the oldest are dropped; see ``EventBuffer`` for their bytes.
    package func subscribe(to names: [Event.Name]?, buffering limit: Int) -> EventReading<Event> {
        let subscription = EventSubscription<Event>(names: names, buffering: limit)
        let number = subscriptions.withLock { $0.add(subscription) }
        // Set before the subscription is returned, so that it cannot end without this.
        subscription.onEnd { [weak self] in
            self?.subscriptions.withLock { $0.remove(number) }
        }
        return EventReading(subscription)
    }

    /// Delivers an event. Delivery wakes readers, so it happens outside the lock.
    package func emit(_ event: Event) {
        for subscription in subscriptions.withLock({ $0 }).all { count(subscription.deliver(event)) }
    }

    /// Tells every subscriber that events were missed.
    package func emit(_ gap: EventGap) {
        for subscription in subscriptions.withLock({ $0 }).all { count(subscription.deliver(gap)) }
    }

    private func count(_ dropped: Int) {
        if dropped > 0 { self.dropped.add(dropped, ordering: .relaxed) }
    }

    /// Who listens, what waits for them, and what they have lost so far, those who have ended included.
    var load: (subscribers: Int, waiting: Int, dropped: Int) {
        let subscriptions = subscriptions.withLock { $0 }
        return (subscriptions.count, subscriptions.all.reduce(0) { $0 + $1.waitingCount }, dropped.load(ordering: .relaxed))
    }
}

/// The subscribers of a hub in the order they came.
///
/// They lie in one row, by numbers that grow. Who goes leaves a gap, and the row closes up when half of it is gaps: a thousand readers
/// come and go at the cost of a thousand times one.
struct EventSubscriptions<Event: BufferedEvent>: Sendable {
    private struct Place: Sendable {
        let number: Int
        var subscription: EventSubscription<Event>?
    }

    private var places: [Place] = []
    private var lastNumber = 0
    private(set) var count = 0

    /// Those who are here, in their order.
    var all: some Sequence<EventSubscription<Event>> { places.lazy.compactMap(\.subscription) }

    /// - Returns: the number the subscriber goes by.
    mutating func add(_ subscription: EventSubscription<Event>) -> Int {
        lastNumber += 1
        places.append(Place(number: lastNumber, subscription: subscription))
        count += 1
        return lastNumber
    }

    /// Takes a subscriber out; does nothing where it has gone already.
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
