/// The name of a service event: one of Feathers' four, or a custom one.
public struct EventName: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public init(stringLiteral value: String) {
        self.rawValue = value
    }

    /// What `create` ends with.
    public static let created = EventName(rawValue: "created")
    /// What `update` ends with.
    public static let updated = EventName(rawValue: "updated")
    /// What `patch` ends with.
    public static let patched = EventName(rawValue: "patched")
    /// What `remove` ends with.
    public static let removed = EventName(rawValue: "removed")

    /// Feathers' four events.
    public static let standard: [EventName] = [.created, .updated, .patched, .removed]

    /// The event a method ends with, or nil for a method that changes nothing Feathers knows of.
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

/// Something that happened to a record, or a custom event of a service.
public struct ServiceEvent: Sendable {
    /// The path of the service.
    public let path: String

    /// The event's name.
    public let name: EventName

    /// The record, or whatever a custom event carries.
    public let data: JSONValue

    /// How many bytes the event came in; 0 for one of this process. It says nothing about equality.
    package var weight = 0

    /// Creates an event of the service at a path.
    public init(path: String, name: EventName, data: JSONValue) {
        self.path = path
        self.name = name
        self.data = data
    }
}

extension ServiceEvent: BufferedEvent {}

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

/// A hole in a sequence of events: from here on, refetch what must be complete.
public struct EventGap: Sendable {
    /// Why events are missing.
    public enum Reason: Sendable {
        /// The reader was too slow for its buffer, so the oldest events were dropped.
        case overflow(dropped: Int)
        /// An event's data did not decode into the model.
        case undecodable(ServiceEvent, any Error)
        /// The connection was lost and came back, or was made after records had been read another way. What happened in between was not received.
        case reconnected
        /// The signed-in user changed: what was received before belongs to the user before.
        case identityChanged
    }

    /// Why events are missing here.
    public let reason: Reason
    /// Whom the events behind a change of user are told; nil for other reasons.
    package var sender: RequestSender?
}

/// What a sequence of events delivers when its reader also wants to hear of holes.
public enum EventDelivery<Element: Sendable>: Sendable {
    case event(Element)
    case gap(EventGap)
}

/// Where a transport delivers what a server pushes: the services' subscribers.
///
/// Its functions return without waiting for any reader and may be called from any thread; the order of calls is the order of delivery.
public struct EventSink: Sendable {
    private let onEvent: @Sendable (ServiceEvent) -> Void
    private let onGap: @Sendable (EventGap.Reason) -> Void

    package init(onEvent: @escaping @Sendable (ServiceEvent) -> Void, onGap: @escaping @Sendable (EventGap.Reason) -> Void) {
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
