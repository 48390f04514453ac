/// Something that happened to a record, or a custom event of a service.
public struct ServiceEvent: Sendable, Hashable {
    /// The path of the service.
    public let path: String

    /// The event's name.
    public let name: EventName

    /// The record, or whatever a custom event carries.
    public let data: JSONValue

    /// An event; the parameters are the properties of the same names.
    public init(path: String, name: EventName, data: JSONValue) {
        self.path = path
        self.name = name
        self.data = data
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
        /// The connection was lost and came back; what happened in between was not heard.
        case reconnected
    }

    /// Why events are missing here.
    public let reason: Reason
}

/// What a sequence of events delivers when its reader also wants to hear of holes.
public enum EventDelivery<Element: Sendable>: Sendable {
    case event(Element)
    case gap(EventGap)
}
