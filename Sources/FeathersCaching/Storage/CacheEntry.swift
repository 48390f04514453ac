public import FeathersCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A kept answer.
public struct CacheEntry: Sendable, Equatable {
    /// The result of the read, as its caller got it.
    public var value: JSONValue

    /// When it expires; nil for never.
    public var expiration: Date?

    /// The tag by which the server tells whether the answer still holds (HTTP's `ETag`), where it sent one.
    public var entityTag: String?

    /// The server's answer where hooks made something else of it and it has a tag; nil where it is ``value`` itself.
    public var answer: JSONValue?

    /// An entry; the parameters are the properties of the same names.
    public init(value: JSONValue, expiration: Date? = nil, entityTag: String? = nil, answer: JSONValue? = nil) {
        self.value = value
        self.expiration = expiration
        self.entityTag = entityTag
        self.answer = answer
    }

    /// Whether the answer is no longer fresh.
    public func isExpired(at now: Date) -> Bool {
        expiration.map { $0 <= now } ?? false
    }

    /// Whether the answer expired before a date.
    func expired(before date: Date) -> Bool {
        expiration.map { $0 < date } ?? false
    }
}
