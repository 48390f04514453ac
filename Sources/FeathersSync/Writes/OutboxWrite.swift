public import FeathersCore
import FeathersSupport
public import Foundation

/// A write in an outbox: the call to make, and the id of the write.
///
/// The properties of the call can be changed in ``OutboxOptions/migrate``. Elsewhere, changing a copy has no effect on
/// the outbox.
public struct OutboxWrite: Sendable, Hashable, Identifiable {
    /// The id of the write while it is in the outbox.
    public let id: UUID
    /// The key by which a server recognizes a repetition. It stays the same for every attempt, unless the write's data
    /// is replaced.
    package internal(set) var key: UUID
    /// The service's path, with its placeholders (`:userId`).
    public var path: String
    /// The method to call.
    public var method: ServiceMethod
    /// The record's id; nil for `create` and custom methods. A provisional id is replaced once the server has assigned
    /// one.
    public var recordID: ServiceID?
    /// The data of the call.
    public var data: JSONValue?
    /// The query of the call.
    public var query: Query<JSONValue>
    /// The values for the placeholders of the path.
    public var route: [String: String]
    /// When the write was queued.
    public let date: Date
    /// The user to whom the write belongs. It is sent only for this user. Nil if it was queued while no one was signed
    /// in, until the next sign-in.
    public internal(set) var identity: Identity?
    /// The record on which the write was made, as the server last reported it; nil if no live query contained it.
    public var base: JSONValue?
    /// The tag of the base, sent as `If-Match`.
    var entityTag: String?
    /// A user's writes in one lane are sent one after the other, in the order they were queued.
    var lane: String
    /// The name of the records' id property, if the service's definition has another one than `id`.
    var idProperty: String?
    /// The write before it in its group, after which it is sent; nil if it is the first of its group, or in none.
    var previous: UUID?
}

/// A write that an outbox has accepted.
public struct QueuedWrite<Value: Sendable>: Sendable, Identifiable {
    /// The write as stored in the outbox.
    public let write: OutboxWrite
    let outcomePromise: Promise<JSONValue>
    /// Whether the model's ids are numbers.
    var hasNumericID = false
    let read: @Sendable (JSONValue) throws -> Value

    public var id: UUID { write.id }

    /// The id of the write's record; nil for a custom method, and for a creation of several records.
    ///
    /// Until the server has assigned another one, that of a created record is provisional: a negative integer if the
    /// model's ids are numbers, otherwise text. You can use it wherever the record's id is meant, also in later launches: in data, queries and routes of writes, calls and live queries. They
    /// are sent with the server's id.
    public var recordID: ServiceID? {
        guard write.method == .create else { return write.recordID }
        guard write.data?.array == nil else { return nil }
        let chosen = write.idProperty.map { write.data?[$0] } ?? write.data?["id"] ?? write.data?["_id"]
        if let chosen = chosen.flatMap({ ServiceID($0) }) { return chosen }
        let key = write.provisionalKey()
        return hasNumericID ? ServiceID(JSONValue.provisionalNumber(for: key)) : .string(key)
    }

    /// Waits for the server's response, which can take days.
    /// - Throws: The failure the write was discarded with, ``FeathersError/Code/conflict`` while the closure of its
    ///   group runs, or `CancellationError` if cancelled, which leaves the write in the outbox.
    public func result() async throws -> Value {
        guard !OutboxGroup.isOpen(for: id) else {
            throw FeathersError(
                .conflict, "The write is queued when its group ends: wait for its result after the group",
                execution: .neverSent)
        }
        return try read(await outcomePromise.value())
    }

    /// Returns the same write with another function that reads its result.
    func mapping<Other>(_ read: @escaping @Sendable (JSONValue) throws -> Other) -> QueuedWrite<Other> {
        QueuedWrite<Other>(write: write, outcomePromise: outcomePromise, hasNumericID: hasNumericID, read: read)
    }
}

/// A failed write that needs a decision.
public struct OutboxFailure: Sendable {
    /// The reason why the outbox needs a decision.
    public enum Reason: String, Sendable, Hashable {
        /// The record is not in the state that the write expects (409, 412).
        case conflict
        /// The server or a hook refused the write, and would refuse it again.
        case rejected
        /// The server may have executed the write, and would not recognize a repetition.
        case unknown
    }

    /// The write as it was sent.
    public internal(set) var write: OutboxWrite
    /// The reason why the outbox needs a decision.
    public let reason: Reason
    /// The error of the last attempt. `errors`, `data` and `response` are stored if they take at most 64 KiB; the
    /// message names what is omitted.
    public let error: FeathersError
    /// Whether any attempt may have been executed.
    public let mayHaveExecuted: Bool
    /// After a conflict, the server's record now; nil if it does not exist or cannot be read.
    public internal(set) var current: JSONValue?
    /// The records that look like the one that a creation with an unknown outcome may have made, as far as live queries
    /// have received them since it was sent. At most 20. Pass the id of one to ``OutboxDecision/executed(as:)`` if you
    /// know that it is this record; none is ever chosen for you.
    public internal(set) var candidates: [JSONValue] = []
    /// The tag of the server's record.
    var entityTag: String?

    /// The record on which the write was made, as the server last reported it; nil if no live query contained it.
    public var base: JSONValue? { write.base }
}

extension OutboxFailure: Equatable {
    public static func == (left: OutboxFailure, right: OutboxFailure) -> Bool {
        (left.write, left.reason, left.error.code, left.error.message, left.mayHaveExecuted)
            == (right.write, right.reason, right.error.code, right.error.message, right.mayHaveExecuted)
    }

    /// Creates the failure of a write that was being sent when the process or the app ended.
    init(interrupted write: OutboxWrite) {
        self.init(
            write: write, reason: .unknown,
            error: FeathersError(.unavailable, "The app ended before the response", execution: .mayHaveExecuted),
            mayHaveExecuted: true)
    }
}

/// A decision about a failed write.
public enum OutboxDecision: Sendable, Hashable {
    /// Discards the write, the writes after it in its group, and with a creation the writes that refer to its record,
    /// unless your app chose the record's id. Waiting for their results throws.
    case discard
    /// Ends a creation that the server has executed although its response was lost. The writes that refer to the record
    /// are sent with this id.
    ///
    /// ``OutboxFailure/candidates`` has the records that it may have made. Waiting for the result returns the record if
    /// a live query contains it, and throws ``FeathersError/Code/gone`` otherwise.
    case executed(as: ServiceID)
    /// Sends the write again, with the same key.
    case retry
    /// Sends the write with other data and a new key, at the same position in its lane.
    case replace(JSONValue)
    /// After a conflict, sends the properties that the write has changed, together with the server's values of the
    /// others, with a new key.
    ///
    /// A property is changed if its value differs from ``OutboxFailure/base``. If the server has changed it too, the
    /// write's value is used.
    case merge
}

extension JSONValue {
    /// Merges this data of a write, made on `base`, with the server's record, by property.
    /// - Parameter isWhole: Whether the data replaces the record, as in `update`, so that properties of the server's
    ///   that it lacks must be added.
    func merged(since base: JSONValue?, with server: JSONValue, isWhole: Bool) -> JSONValue {
        guard case .object(var merged) = self, let theirs = server.object else { return self }
        let base = base?.object ?? [:]
        for (name, value) in merged where base[name] == value { merged[name] = theirs[name] }
        if isWhole {
            for (name, value) in theirs where merged[name] == nil && base[name] == nil { merged[name] = value }
        }
        return .object(merged)
    }
}
