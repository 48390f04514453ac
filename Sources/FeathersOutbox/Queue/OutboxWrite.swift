public import FeathersCore
public import Foundation

/// A write that an outbox holds: what is to be called, and what tells it from all others.
public struct OutboxWrite: Sendable, Hashable, Identifiable {
    /// Tells the write from all others for as long as it is in the outbox.
    public let id: UUID
    /// What a server knows a repetition by. The same for every attempt; a write whose data was replaced has another one.
    public internal(set) var key: UUID
    /// The service's path, placeholders (`:userId`) unfilled.
    public let path: String
    /// What is called.
    public let method: ServiceMethod
    /// The record's id; nil in `create` and custom methods.
    public let recordID: ServiceID?
    /// What the method is given.
    public internal(set) var data: JSONValue?
    /// The query that goes with the call.
    public let query: Query
    /// Values for the placeholders of the path.
    public let route: [String: String]
    /// When it was handed in.
    public let date: Date
    /// Writes of one lane are sent one after the other, in the order they were handed in.
    let lane: String
}
