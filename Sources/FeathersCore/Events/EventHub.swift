import FeathersSupport
import Synchronization

/// Hands the events of one service to every subscriber's own buffer.
package final class EventHub: Sendable {
    private let subscriptions = Locked(EventSubscriptions())
    private let dropped = Atomic<Int>(0)

    package init() {}

    /// Whether anybody listens; events nobody hears need not be made.
    package var hasSubscribers: Bool {
        subscriptions.withLock { $0.count > 0 }
    }

    /// Registers a subscriber before it returns, so that no event after it is missed.
    /// - Parameters:
    ///   - names: the events to deliver; nil for every one.
    ///   - limit: how many events wait for a slow reader before the oldest are dropped.
    ///   - transform: makes the reader's element of an event; what it throws becomes a gap.
    func subscribe<Element>(
        to names: [EventName]?, buffering limit: Int, transform: @escaping @Sendable (ServiceEvent) throws -> Element
    ) -> ServiceEvents<Element> {
        let subscription = EventSubscription(names: names, buffering: limit)
        let number = subscriptions.withLock { $0.add(subscription) }
        // Nobody can end it before it is returned.
        subscription.onEnd { [weak self] in
            self?.subscriptions.withLock { $0.remove(number) }
        }
        return ServiceEvents(EventReading(subscription), transform: transform)
    }

    /// Delivers an event. Delivery wakes readers, so it happens outside the lock.
    package func emit(_ event: ServiceEvent) {
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
