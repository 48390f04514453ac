/// Where a transport delivers what a server pushes: the services' subscribers.
///
/// Its functions return without waiting for any reader and may be called from any thread; the order of calls is the order of delivery.
public struct EventSink: Sendable {
    private let onEvent: @Sendable (ServiceEvent) -> Void
    private let onGap: @Sendable (EventGap.Reason) -> Void

    /// A sink that hands events and gaps to functions.
    public init(onEvent: @escaping @Sendable (ServiceEvent) -> Void, onGap: @escaping @Sendable (EventGap.Reason) -> Void) {
        self.onEvent = onEvent
        self.onGap = onGap
    }

    /// Hands an event to the subscribers of its service.
    public func receive(_ event: ServiceEvent) {
        onEvent(event)
    }

    /// Tells every subscriber of every service that events were missed.
    public func receiveGap(_ reason: EventGap.Reason) {
        onGap(reason)
    }
}
