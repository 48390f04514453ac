/// A change of a record that a service has told of: one of Feathers' four events.
public enum ServiceChange<Record: Sendable>: Sendable {
    case created(Record)
    case updated(Record)
    case patched(Record)
    case removed(Record)

    /// The record; as it was, if it was removed.
    public var record: Record {
        switch self {
        case .created(let record), .updated(let record), .patched(let record), .removed(let record): record
        }
    }

    /// The event's name.
    public var name: EventName {
        switch self {
        case .created: .created
        case .updated: .updated
        case .patched: .patched
        case .removed: .removed
        }
    }

    /// Nil if the name is not one of the four.
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

extension Service {
    /// How many events wait for a slow reader unless it says otherwise.
    public static let defaultEventBuffer = 1024
}

extension EventReading {
    /// The events as they came, without the gaps.
    package func events() -> AsyncStream<Event> {
        AsyncStream {
            while true {
                var item = self.nextWaiting()
                if item == nil { item = await self.next() }
                guard let item else { return nil }
                if case .event(let event) = item { return event }
            }
        }
    }
}

extension EventReading where Event == ServiceEvent {
    /// The events and gaps as a stream. It holds the subscription, so that dropping the stream ends that.
    /// - Parameters:
    ///   - diagnostics: where events that cannot be decoded are reported.
    ///   - decode: makes the reader's element of an event, in the reader's task.
    func deliveries<Element: Sendable>(
        _ diagnostics: @escaping @Sendable () -> Diagnostics, _ decode: @escaping @Sendable (ServiceEvent) throws -> Element
    ) -> AsyncStream<EventDelivery<Element>> {
        AsyncStream {
            var item = self.nextWaiting()
            if item == nil { item = await self.next() }
            switch item {
            case nil: return nil
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

    /// The events as a stream, without the gaps.
    func events<Element: Sendable>(
        _ diagnostics: @escaping @Sendable () -> Diagnostics, _ decode: @escaping @Sendable (ServiceEvent) throws -> Element
    ) -> AsyncStream<Element> {
        AsyncStream {
            while true {
                var item = self.nextWaiting()
                if item == nil { item = await self.next() }
                guard let item else { return nil }
                guard case .event(let event) = item else { continue }
                do { return try decode(event) } catch { diagnostics().reportUndecodable(event, error) }
            }
        }
    }
}

extension Diagnostics {
    /// Events are pushed by the server: what does not decode has no caller to throw to.
    fileprivate func reportUndecodable(_ event: ServiceEvent, _ error: any Error) {
        // Of other errors only the type is told: what they print may hold the event's data.
        let reason = (error as? FeathersError)?.message ?? "\(type(of: error))"
        log(
            .warning, .events, "An event was dropped: '\(event.name)' of service '\(event.path)' cannot be decoded: \(reason)",
            [.path: .string(event.path)], error: error)
    }
}

extension AsyncStream where Element: Sendable {
    /// Waits for the next element: Feathers' `once`.
    ///
    /// Make the stream before what causes the event, so that it cannot be missed:
    ///
    /// ```swift
    /// let created = messages.events(.created)
    /// try await messages.create(["text": "Hi"])
    /// let message = try await created.first()
    /// ```
    /// - Throws: `CancellationError` when the task is cancelled while it waits, or the stream ends.
    public func first() async throws -> Element {
        for await element in self { return element }
        throw CancellationError()
    }
}
