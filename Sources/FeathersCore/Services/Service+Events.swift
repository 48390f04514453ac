extension Service {
    /// How many events wait for a slow reader unless said otherwise.
    public static let defaultEventBuffer = 1024

    /// The records of one kind of event, listening from now on.
    /// - Parameters:
    ///   - name: a standard event or a custom one.
    ///   - limit: how many events wait for a slow reader before the oldest are dropped.
    public nonisolated func events(_ name: EventName, buffering limit: Int = defaultEventBuffer) -> ServiceEvents<JSONValue> {
        registration.events.subscribe(to: [name], buffering: limit) { $0.data }
    }

    /// Events of several kinds with their names, listening from now on; without names, Feathers' four.
    public nonisolated func events(
        _ names: [EventName] = EventName.standard, buffering limit: Int = defaultEventBuffer
    ) -> ServiceEvents<ServiceEvent> {
        registration.events.subscribe(to: names, buffering: limit) { $0 }
    }

    /// Every event of the service, custom ones included, listening from now on.
    public nonisolated func allEvents(buffering limit: Int = defaultEventBuffer) -> ServiceEvents<ServiceEvent> {
        registration.events.subscribe(to: nil, buffering: limit) { $0 }
    }
}

extension Service {
    /// Whether anybody in this process listens to the service's events.
    public nonisolated var hasEventSubscribers: Bool { registration.events.hasSubscribers }
}
