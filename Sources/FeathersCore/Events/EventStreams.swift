/// A change of a record: one of Feathers' four events, with the record.
public enum ServiceChange<Record: Sendable>: Sendable {
    case created(Record)
    case updated(Record)
    case patched(Record)
    case removed(Record)

    /// The changed record. For `removed`, the record before its removal.
    public var record: Record {
        switch self {
        case .created(let record), .updated(let record), .patched(let record), .removed(let record): record
        }
    }

    /// The name of the event.
    public var name: EventName {
        switch self {
        case .created: .created
        case .updated: .updated
        case .patched: .patched
        case .removed: .removed
        }
    }

    /// Returns nil if the name is not one of the four.
    init?(_ name: EventName, _ record: Record) {
        switch name {
        case .created: self = .created(record)
        case .updated: self = .updated(record)
        case .patched: self = .patched(record)
        case .removed: self = .removed(record)
        default: return nil
        }
    }
}

extension ServiceChange: Equatable where Record: Equatable {}
extension ServiceChange: Hashable where Record: Hashable {}

extension EventReading {
    /// The events in order, without the gaps. The stream holds the subscription, so dropping the stream ends the
    /// subscription.
    package func events() -> AsyncStream<Event> {
        AsyncStream {
            while true {
                guard let item = await self.next() else { return nil }
                if case .event(let event) = item { return event }
            }
        } onCancel: {
            self.end(isUnread: true)
        }
    }
}

// Of these, only the elements are generic: for every generic type, a call looks up metadata at run time.
extension EventReading where Event == ServiceEvent {
    /// Returns the elements that `transform` creates from the events and gaps, in the reader's task. The stream holds
    /// the subscription, so dropping the stream ends the subscription.
    @inline(__always)
    private func stream<Element: Sendable>(_ transform: @escaping @Sendable (EventDelivery<ServiceEvent>) -> Element?)
        -> AsyncStream<Element>
    {
        AsyncStream {
            while true {
                // Two branches, because one variable for both cases would copy the item.
                if let item = self.nextDrained() {
                    if let element = transform(item) { return element }
                } else {
                    guard let item = await self.next() else { return nil }
                    if let element = transform(item) { return element }
                }
            }
        } onCancel: {
            self.end(isUnread: true)
        }
    }

    /// Returns the events and gaps, without decoding the events.
    func deliveries() -> AsyncStream<EventDelivery<ServiceEvent>> { stream { $0 } }

    /// Returns the events without the gaps, and without decoding them.
    func serviceEvents() -> AsyncStream<ServiceEvent> {
        stream { if case .event(let event) = $0 { event } else { nil } }
    }

    /// Returns the data of the events, without the gaps.
    func data() -> AsyncStream<JSONValue> { stream { if case .event(let event) = $0 { event.data } else { nil } } }

    /// Returns the events and gaps as a stream.
    /// - Parameters:
    ///   - diagnostics: The diagnostics that report events that cannot be decoded.
    ///   - decode: Creates the stream's element from an event, in the reader's task.
    func deliveries<Element: Sendable>(
        _ diagnostics: @escaping @Sendable () -> Diagnostics,
        _ decode: @escaping @Sendable (ServiceEvent) throws -> Element
    ) -> AsyncStream<EventDelivery<Element>> {
        stream { item in
            switch item {
            case .gap(let gap): return .gap(gap)
            case .event(let event):
                do {
                    return .event(try decode(event))
                } catch {
                    diagnostics().reportUndecodable(event, error)
                    return .gap(EventGap(reason: .undecodable(event, error)))
                }
            }
        }
    }

    /// Returns the events as a stream, without the gaps.
    func events<Element: Sendable>(
        _ diagnostics: @escaping @Sendable () -> Diagnostics,
        _ decode: @escaping @Sendable (ServiceEvent) throws -> Element
    ) -> AsyncStream<Element> {
        stream { item in
            guard case .event(let event) = item else { return nil }
            do { return try decode(event) } catch { diagnostics().reportUndecodable(event, error) }
            return nil
        }
    }

    /// Returns the next buffered event or gap without waiting; nil if there is none.
    package func nextWaiting() -> EventDelivery<ServiceEvent>? { subscription.nextWaiting() }
}

extension Diagnostics {
    /// Reports an event that cannot be decoded. The server pushed it, so there is no caller to throw to.
    fileprivate func reportUndecodable(_ event: ServiceEvent, _ error: any Error) {
        // Other errors are reported by type only, because their descriptions may contain the event's data.
        let reason = (error as? FeathersError)?.message ?? "\(type(of: error))"
        let name = "event '\(event.name)' of service '\(event.path)'"
        let message = reason.contains(name) ? reason : "The \(name) cannot be decoded: \(reason)"
        log(.warning, .events, "An event was dropped. \(message)", [.path: .string(event.path)], error: error)
    }
}

extension AsyncStream where Element: Sendable {
    /// Waits for the next element, like Feathers' `once`.
    ///
    /// Create the stream before you trigger the event, so that you do not miss it:
    ///
    /// ```swift
    /// let created = messages.events(.created)
    /// try await messages.create(["text": "Hi"])
    /// let message = try await created.first()
    /// ```
    /// - Throws: `CancellationError` if the task is cancelled while waiting or the stream ends.
    public func first() async throws -> Element {
        for await element in self { return element }
        throw CancellationError()
    }
}
