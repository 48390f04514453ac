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
        private let reading: EventReading
        private let transform: @Sendable (ServiceEvent) throws -> Element

        init(_ reading: EventReading, transform: @escaping @Sendable (ServiceEvent) throws -> Element) {
            self.reading = reading
            self.transform = transform
        }

        /// The next event or gap; nil once the reader's task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> EventDelivery<Element>? {
            switch await reading.subscription.next(isolation: actor) {
            case nil: return nil
            case .gap(let gap): return .gap(gap)
            case .event(let event):
                do {
                    return .event(try transform(event))
                } catch {
                    return .gap(EventGap(reason: .undecodable(event, error)))
                }
            }
        }
    }
}
