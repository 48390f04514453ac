/// Data for a service that lists the properties it is sent with, not for a `JSONAPIModel`. `swift package feathers-models` writes such types.
///
/// ```swift
/// struct MessagePatch: ServiceData {
///     var text: String?
///     var pinned: Presence<Bool> = .absent
///
///     var properties: KeyValuePairs<String, any Encodable> { ["text": text, "pinned": pinned] }
/// }
/// ```
public protocol ServiceData: Encodable, Sendable {
    /// The properties' names on the server and their values, in the order in which they are sent.
    ///
    /// Nil and ``Presence/absent`` are left out. To send null instead of nil, declare the property as ``Nullable`` and list its wrapper: `_deletedAt`.
    var properties: KeyValuePairs<String, any Encodable> { get }
}

extension ServiceData {
    /// Writes the properties.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: PropertyKey<Self>.self)
        for (name, value) in properties {
            if let value = value as? any OptionalProperty, value.isAbsent { continue }
            try container.encode(value, forKey: PropertyKey(name))
        }
    }
}

/// A value that may have to be left out.
private protocol OptionalProperty {
    var isAbsent: Bool { get }
}

extension Optional: OptionalProperty {
    fileprivate var isAbsent: Bool { self == nil }
}

extension Presence: OptionalProperty {
    fileprivate var isAbsent: Bool { if case .absent = self { true } else { false } }
}
