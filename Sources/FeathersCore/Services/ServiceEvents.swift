import FeathersSupport

// Events of a service as streams.

extension Service {
    /// The default number of events that are buffered for a slow reader.
    public static var defaultEventBuffer: Int { 1024 }

    /// Returns the records of future events of one kind.
    ///
    /// The stream starts listening when it is created, has its own bounded buffer, and ends when it is dropped or its
    /// reader's task is cancelled. Create one stream for each reader: two readers of one stream share its events, and
    /// cancelling one ends both.
    ///
    /// An event that cannot be decoded is skipped, with a warning in the app's diagnostics.
    /// ``deliveries(_:bufferingNewest:)`` shows the position.
    /// - Parameters:
    ///   - name: A standard event or a custom one.
    ///   - limit: The number of newest events to buffer for a slow reader, as with `AsyncStream`'s
    ///     `.bufferingNewest(limit)`. Older events are dropped; ``deliveries(_:bufferingNewest:)`` shows where.
    public func events(_ name: EventName, bufferingNewest limit: Int = defaultEventBuffer) -> AsyncStream<Model> {
        events(name, as: Model.self, bufferingNewest: limit)
    }

    /// Returns the payloads of future custom events: `messages.events("typing", as: Typing.self)`.
    /// - Parameters:
    ///   - name: The name of the event.
    ///   - payload: The type that the event's data is decoded into.
    ///   - limit: The number of newest events to buffer for a slow reader, as with `AsyncStream`'s
    ///     `.bufferingNewest(limit)`.
    public func events<Payload: Decodable & Sendable>(
        _ name: EventName, as payload: Payload.Type, bufferingNewest limit: Int = defaultEventBuffer
    ) -> AsyncStream<Payload> {
        let reading = subscription(to: [name], bufferingNewest: limit)
        if payload == JSONValue.self { return identity(reading.data(), as: AsyncStream<Payload>.self) }
        return reading.events(appDiagnostics, eventDecoder(payload))
    }

    /// Returns future events of several kinds with their names, without decoding them; Feathers' four by default.
    ///
    /// Pass nil for all of them, including custom events.
    public func events(
        _ names: [EventName]? = EventName.standard, bufferingNewest limit: Int = defaultEventBuffer
    ) -> AsyncStream<ServiceEvent> {
        subscription(to: names, bufferingNewest: limit).serviceEvents()
    }

    /// Returns future changes of the service's records; of all four kinds by default.
    public func changes(
        _ names: [EventName] = EventName.standard, bufferingNewest limit: Int = defaultEventBuffer
    ) -> AsyncStream<ServiceChange<Model>> {
        subscription(to: names, bufferingNewest: limit).events(appDiagnostics, changeDecoder)
    }

    /// Returns future changes of the service's records, with markers where events are missing or cannot be decoded.
    public func deliveries(
        _ names: [EventName] = EventName.standard, bufferingNewest limit: Int = defaultEventBuffer
    ) -> AsyncStream<EventDelivery<ServiceChange<Model>>> {
        subscription(to: names, bufferingNewest: limit).deliveries(appDiagnostics, changeDecoder)
    }

    /// Returns future events of several kinds with their names, without decoding them, and markers where some are
    /// missing; Feathers' four by default.
    ///
    /// Pass nil for all of them, including custom events.
    public func eventDeliveries(
        _ names: [EventName]? = EventName.standard, bufferingNewest limit: Int = defaultEventBuffer
    ) -> AsyncStream<EventDelivery<ServiceEvent>> {
        subscription(to: names, bufferingNewest: limit).deliveries()
    }

    /// Emits an event to the subscribers in this process, as a service does for its custom events.
    public func emit(_ event: EventName, _ data: JSONValue) {
        let event = ServiceEvent(path: path, name: event, data: data)
        app.serviceRegistry.observe { $0.receive(event) }
        registered.events.emit(event)
    }
}

extension Service {
    /// Subscribes to Feathers' four events for a reader that can also be woken.
    package func reading() -> EventReading<ServiceEvent> {
        openReading(to: EventName.standard, bufferingNewest: Self.defaultEventBuffer)
    }

    private func eventDecoder<Payload: Decodable & Sendable>(
        _ type: Payload.Type
    ) -> @Sendable (ServiceEvent) throws -> Payload {
        let (format, app) = (recordFormat?.coding == nil ? nil : recordFormat, app.weakReference)
        return { event in
            if Payload.self == JSONValue.self { return identity(event.data, as: type) }
            do {
                let decode = { try (format?.coding ?? app.app?.coding ?? defaultCoding).decode(type, from: event.data) }
                return try event.decodings?.value(of: type, format, decode: decode) ?? decode()
            } catch {
                throw FeathersError.undecodable("The event '\(event.name)' of service '\(event.path)'", as: type, error)
            }
        }
    }

    private var changeDecoder: @Sendable (ServiceEvent) throws -> ServiceChange<Model> {
        let decode = eventDecoder(Model.self)
        return { event in
            guard let change = ServiceChange(event.name, try decode(event)) else {
                throw FeathersError(.generalError, "'\(event.name)' is not one of Feathers' four events")
            }
            return change
        }
    }

    /// Subscribes to events for the app's own user. Where calls need a token, the scope must be that user's, because
    /// the events of the connection are not those of a caller.
    private func subscription(to names: [EventName]?, bufferingNewest limit: Int) -> EventReading<ServiceEvent> {
        do {
            try app.requireOwnUser(for: "An event stream of service '\(path)'")
            return openReading(to: names, bufferingNewest: limit)
        } catch {
            // A stream cannot throw, so it ends at once.
            app.diagnostics.log(.error, .events, error.message, [.path: .string(path)], error: error)
            let reading = EventHub<ServiceEvent>().subscribe(to: [], bufferingNewest: 1)
            reading.end()
            return reading
        }
    }

    /// Subscribes to events, and warns once per service if the server sends none.
    /// - Parameters:
    ///   - names: The events to deliver; nil for all of them.
    ///   - limit: The number of events to buffer for a slow reader.
    private func openReading(to names: [EventName]?, bufferingNewest limit: Int) -> EventReading<ServiceEvent> {
        if app.transport != nil, app.realTimeTransport == nil, app.serviceRegistry.registered(at: path) == nil {
            warnOfMissingEvents()
        }
        let reading = registered.events.subscribe(to: names, bufferingNewest: limit)
        reading.onSecondReader { [app = app.weakReference, path] in
            app.app?.diagnostics.log(
                .warning, .events,
                """
                Two readers share one event stream of service '\(path)', so each of them misses events: create a \
                stream for each reader
                """, [.path: .string(path)])
        }
        return reading
    }

    private func warnOfMissingEvents() {
        let diagnostics = app.diagnostics
        let isFirst =
            diagnostics.wants(.warning, .events)
            && registered.hasWarnedOfMissingEvents.withLock { hasWarned in
                defer { hasWarned = true }
                return !hasWarned
            }
        if !isFirst { return }
        diagnostics.log(
            .warning, .events,
            """
            The app's transport receives no events: subscribers of service '\(path)' see only the changes that this \
            app makes
            """, [.path: .string(path)])
    }

    /// The diagnostics that event streams report to. Holds the app weakly, because a stream does not retain its app.
    private var appDiagnostics: @Sendable () -> Diagnostics {
        { [app = app.weakReference] in app.app?.diagnostics ?? Diagnostics() }
    }
}
