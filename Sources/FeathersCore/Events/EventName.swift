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
