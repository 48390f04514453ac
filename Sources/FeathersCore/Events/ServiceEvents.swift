/// The events of a service as an asynchronous sequence.
///
/// ```swift
/// for await message in messages.events(.created) { … }
/// ```
///
/// It listens from the moment it is made, keeps what is not yet read in its own bounded buffer, and stops listening when it is dropped
/// or its reader's task is cancelled. One sequence is for one reader: ask the service for another rather than sharing it.
public struct ServiceEvents<Element: Sendable>: AsyncSequence, Sendable {
    private let reading: EventReading
    private let transform: @Sendable (ServiceEvent) throws -> Element

    init(_ reading: EventReading, transform: @escaping @Sendable (ServiceEvent) throws -> Element) {
        self.reading = reading
        self.transform = transform
    }

    /// How many events were dropped because the reader was slower than its buffer is long.
    public var droppedCount: Int { reading.subscription.droppedCount }

    /// The same events together with markers where some were missed.
    public var deliveries: EventDeliveries<Element> { EventDeliveries(events: self) }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reading: reading, transform: transform)
    }

    func makeDeliveryIterator() -> EventDeliveries<Element>.AsyncIterator {
        .init(reading, transform: transform)
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let reading: EventReading
        let transform: @Sendable (ServiceEvent) throws -> Element

        /// The next event, gaps passed over; nil once the reader's task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
            // Read from the subscription itself: by way of the deliveries, every event would pay for generic types made for it.
            while let item = await reading.subscription.next(isolation: actor) {
                // What is no element is a gap, passed over like the others.
                if case .event(let event) = item, let element = try? transform(event) { return element }
            }
            return nil
        }
    }
}

extension ServiceEvents {
    /// Waits for the first event, or the first that fulfils a condition: Feathers' `once`.
    ///
    /// Make the sequence before what causes the event, so that it cannot be missed:
    ///
    /// ```swift
    /// let created = messages.events(.created)
    /// try await messages.create(["text": "Hi"])
    /// let message = try await created.first()
    /// ```
    /// - Throws: `CancellationError` when the task is cancelled while it waits.
    public func first(where condition: (Element) -> Bool = { _ in true }) async throws -> Element {
        for await element in self where condition(element) { return element }
        throw CancellationError()
    }
}
