/// The events of a service together with markers where some were missed.
///
/// ```swift
/// for await delivery in messages.events(.created).deliveries {
///     switch delivery {
///     case .event(let message): list.append(message)
///     case .gap: list = try await messages.find().data
///     }
/// }
/// ```
public struct EventDeliveries<Element: Sendable>: AsyncSequence, Sendable {
    let events: ServiceEvents<Element>

    public func makeAsyncIterator() -> AsyncIterator {
        events.makeDeliveryIterator()
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        private var base: AsyncStream<EventSubscription.Item>.AsyncIterator
        private let subscription: EventSubscription
        private let transform: @Sendable (ServiceEvent) throws -> Element
        private var reportedDrops = 0
        private var held: EventSubscription.Item?

        init(
            base: AsyncStream<EventSubscription.Item>.AsyncIterator, subscription: EventSubscription,
            transform: @escaping @Sendable (ServiceEvent) throws -> Element
        ) {
            self.base = base
            self.subscription = subscription
            self.transform = transform
        }

        /// The next event or gap; nil once the reader's task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> EventDelivery<Element>? {
            guard let item = await nextItem(isolation: actor) else { return nil }
            // The oldest events are the ones dropped, so the hole lies before the item just taken.
            let dropped = subscription.droppedCount
            if dropped > reportedDrops {
                defer { reportedDrops = dropped }
                held = item
                return .gap(EventGap(reason: .overflow(dropped: dropped - reportedDrops)))
            }
            switch item {
            case .gap(let gap): return .gap(gap)
            case .event(let event):
                do {
                    return .event(try transform(event))
                } catch {
                    return .gap(EventGap(reason: .undecodable(event, error)))
                }
            }
        }

        private mutating func nextItem(isolation actor: isolated (any Actor)?) async -> EventSubscription.Item? {
            if let held {
                self.held = nil
                return held
            }
            return await base.next(isolation: actor)
        }
    }
}
