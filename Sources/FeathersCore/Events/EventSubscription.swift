import Synchronization

/// One reader's place at an event hub: its names, its bounded buffer, its count of what it missed.
///
/// The hub holds it while the reader's stream lives; dropping or cancelling the stream ends it.
final class EventSubscription: Sendable {
    enum Item: Sendable {
        case event(ServiceEvent)
        case gap(EventGap)
    }

    private let names: [EventName]?
    private let continuation: AsyncStream<Item>.Continuation
    private let dropped = Atomic<Int>(0)

    private init(names: [EventName]?, continuation: AsyncStream<Item>.Continuation) {
        self.names = names
        self.continuation = continuation
    }

    /// A subscription and the stream its one reader reads. The stream is not kept here: its end is the subscription's.
    static func open(names: [EventName]?, buffering limit: Int) -> (EventSubscription, AsyncStream<Item>) {
        let (stream, continuation) = AsyncStream.makeStream(of: Item.self, bufferingPolicy: .bufferingNewest(max(limit, 1)))
        return (EventSubscription(names: names, continuation: continuation), stream)
    }

    /// How many events did not fit the buffer.
    var droppedCount: Int { dropped.load(ordering: .acquiring) }

    func onEnd(_ action: @escaping @Sendable () -> Void) {
        continuation.onTermination = { _ in action() }
    }

    func deliver(_ event: ServiceEvent) {
        if let names, !names.contains(event.name) { return }
        yield(.event(event))
    }

    func deliver(_ gap: EventGap) {
        yield(.gap(gap))
    }

    private func yield(_ item: Item) {
        if case .dropped = continuation.yield(item) { dropped.add(1, ordering: .acquiringAndReleasing) }
    }
}
