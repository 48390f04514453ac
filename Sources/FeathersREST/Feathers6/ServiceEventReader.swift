import FeathersCore

/// Reads the events of services from the data of server-sent events.
struct ServiceEventReader: Sendable {
    /// The meaning of a server-sent event's data.
    enum Content: Sendable, Hashable {
        case event(ServiceEvent)
        /// The server's greeting, or no data at all.
        case greeting
        /// Anything but an object with `event` and `path`.
        case unusable
    }

    private let greetingPath: String

    /// - Parameter greetingPath: The path of the event stream, at which the server greets.
    init(greetingPath: String) { self.greetingPath = FeathersApp.stripSlashes(greetingPath) }

    func read(_ text: UnsafeBufferPointer<UInt8>) -> Content {
        if text.isEmpty { return .greeting }
        guard let json = try? JSONValue(parsingLossily: text), let name = json["event"]?.string,
            let path = json["path"]?.string
        else {
            return .unusable
        }
        let servicePath = FeathersApp.stripSlashes(path)
        if name == "connected", servicePath == greetingPath { return .greeting }
        return .event(
            ServiceEvent(
                path: servicePath, name: EventName(rawValue: name), data: json["data"] ?? .null, weight: text.count))
    }
}
