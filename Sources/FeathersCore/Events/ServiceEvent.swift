/// The name of a service event: one of Feathers' four or a custom one.
public struct EventName: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public init(stringLiteral value: String) {
        self.rawValue = value
    }

    /// Compares the names as they were written, as JavaScript does.
    public static func == (left: EventName, right: EventName) -> Bool { left.rawValue.isExactly(right.rawValue) }

    public func hash(into hasher: inout Hasher) { rawValue.hashExactly(into: &hasher) }

    /// The event of `create`.
    public static let created = EventName(rawValue: "created")
    /// The event of `update`.
    public static let updated = EventName(rawValue: "updated")
    /// The event of `patch`.
    public static let patched = EventName(rawValue: "patched")
    /// The event of `remove`.
    public static let removed = EventName(rawValue: "removed")

    /// Feathers' four events.
    public static let standard: [EventName] = [.created, .updated, .patched, .removed]

    /// Creates the event that a method emits at its end; nil for `find`, `get` and custom methods.
    package init?(endOf method: ServiceMethod) {
        switch method {
        case .create: self = .created
        case .update: self = .updated
        case .patch: self = .patched
        case .remove: self = .removed
        case .find, .get, .custom: return nil
        }
    }

    public var description: String { rawValue }
}

/// A change of a record, or a custom event of a service.
public struct ServiceEvent: Sendable {
    /// The path of the service on the server.
    ///
    /// If the path has placeholders, such as `teams/:team/members`, its events also reach the services at matching
    /// paths, such as `teams/red/members`, because the events do not contain the placeholders' values.
    public let path: String

    /// The name of the event.
    public var name: EventName

    /// The record, or the payload of a custom event.
    public var data: JSONValue {
        didSet { decodings = nil }
    }

    /// The size of the event on the wire in bytes; 0 for a local event. Ignored by equality.
    package var weight = 0

    /// Whether the event was made from the response to the app's own write, because the transport delivers no events.
    /// Responses over HTTP can overtake each other. Ignored by equality.
    package private(set) var isOwn = false

    /// What readers have decoded the data into; nil if there is one reader. Ignored by equality.
    private(set) var decodings: SharedDecodings?

    /// Creates an event of the service at a path.
    public init(path: String, name: EventName, data: JSONValue) {
        self.path = path
        self.name = name
        self.data = data
    }

    /// Creates an event that arrived in a number of bytes.
    package init(path: String, name: EventName, data: JSONValue, weight: Int) {
        self.init(path: path, name: name, data: data)
        self.weight = weight
    }

    /// Creates the event of the app's own write.
    package init(ownAt path: String, name: EventName, data: JSONValue) {
        self.init(path: path, name: name, data: data)
        isOwn = true
    }
}

extension ServiceEvent: BufferedEvent {
    package var shared: ServiceEvent {
        var event = self
        event.decodings = SharedDecodings()
        return event
    }
}

extension ServiceEvent: Hashable {
    public static func == (left: ServiceEvent, right: ServiceEvent) -> Bool {
        left.path == right.path && left.name == right.name && left.data == right.data
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(path)
        hasher.combine(name)
        hasher.combine(data)
    }
}

/// A gap in a sequence of events. If you need complete data, fetch it again.
public struct EventGap: Sendable {
    /// Why events are missing.
    public enum Reason: Sendable {
        /// The reader was too slow for its buffer, so the oldest events were dropped.
        case overflow(dropped: Int)
        /// The event's data could not be decoded into the model. If an event hook has thrown the error, the data is
        /// null.
        case undecodable(ServiceEvent, any Error)
        /// The connection was reestablished, or opened after records had been read over another transport. Events in
        /// between were not received.
        case reconnected
        /// The signed-in user changed. Data received earlier belongs to the previous user.
        case identityChanged
    }

    /// Why events are missing here.
    public let reason: Reason
    /// The user who receives the events after a change of user; nil for other reasons.
    package var sender: RequestSender?
}

/// An element of a sequence of events that includes gaps.
public enum EventDelivery<Element: Sendable>: Sendable {
    case event(Element)
    case gap(EventGap)
}

/// The receiver of what a transport's server pushes. It delivers to the subscribers of the services.
///
/// Its methods return without waiting for readers and are thread-safe. Events are delivered in the order of the calls.
public struct EventSink: Sendable {
    private let onEvents: @Sendable (ArraySlice<ServiceEvent>) -> Void
    private let onGap: @Sendable (EventGap.Reason) -> Void

    /// Creates a sink that receives what one read of a connection has brought together.
    init(
        onEvents: @escaping @Sendable (ArraySlice<ServiceEvent>) -> Void,
        onGap: @escaping @Sendable (EventGap.Reason) -> Void
    ) {
        (self.onEvents, self.onGap) = (onEvents, onGap)
    }

    package init(
        onEvent: @escaping @Sendable (ServiceEvent) -> Void, onGap: @escaping @Sendable (EventGap.Reason) -> Void
    ) {
        self.init(onEvents: { $0.forEach(onEvent) }, onGap: onGap)
    }

    /// Returns the same sink, with a function that is called before each gap.
    package func beforeGaps(_ action: @escaping @Sendable () -> Void) -> EventSink {
        EventSink(onEvents: onEvents) { reason in
            action()
            onGap(reason)
        }
    }

    /// Delivers an event to the subscribers of its service.
    public func receive(_ event: ServiceEvent) {
        onEvents([event])
    }

    /// Delivers what one read of a connection has brought, as ``receive(_:)`` does for each event.
    package func receive(contentsOf events: ArraySlice<ServiceEvent>) {
        onEvents(events)
    }

    /// Delivers a gap to every subscriber of every service.
    public func receiveGap(_ reason: EventGap.Reason) {
        onGap(reason)
    }
}
