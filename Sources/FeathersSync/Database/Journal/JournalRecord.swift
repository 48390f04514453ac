import FeathersCore
import Foundation

/// A step in the progress of a write, as it is stored in a journal.
enum JournalRecord: Sendable {
    /// The write was queued.
    case added(OutboxWrite)
    /// The writes of a group were queued, all of them or none.
    case grouped([OutboxWrite])
    /// Pending writes were rewritten, all of them or none.
    case migrated([OutboxWrite])
    /// All writes that were queued while no one was signed in belong to a user from now on.
    case taken(by: Identity)
    /// An attempt begins. After this record, the write may have been executed.
    case begun(UUID)
    /// No attempt was executed, or another one is wanted regardless.
    case released(UUID)
    /// A decision is needed.
    case failed(UUID, OutboxFailure.Reason, FeathersError, mayHaveExecuted: Bool)
    /// The write is to be sent with other data and another key, made on `base`, whose tag is `tag`.
    case replaced(UUID, key: UUID, data: JSONValue, base: JSONValue? = nil, tag: String? = nil)
    /// The write was executed or discarded. `made` are the ids of the records it created, by the keys under which they
    /// were known, and `gone` are the keys of records that do not exist. `executed` is the server's result, if its
    /// records are stored, and `dependents` are the writes that end with it.
    case ended(
        UUID, made: [String: ServiceID] = [:], gone: [String] = [], executed: ExecutedResult? = nil,
        dependents: [UUID] = [])

    /// The write whose end this is, if it is one.
    var endedWrite: UUID? { if case .ended(let id, _, _, _, _) = self { id } else { nil } }

    /// Creates the record of a failure that needs a decision.
    init(_ failure: OutboxFailure) {
        self = .failed(failure.write.id, failure.reason, failure.error, mayHaveExecuted: failure.mayHaveExecuted)
    }
}

/// A pending write, as described by a journal.
struct StoredWrite: Sendable {
    var write: OutboxWrite
    /// The position in the order of all writes.
    let number: Int
    /// Whether an attempt may have been executed.
    var mayHaveExecuted = false
    /// The failure that needs a decision, if there is one.
    var failure: OutboxFailure?
}

extension UUID {
    /// The lowercase form, as written by JavaScript libraries.
    var text: String { uuidString.lowercased() }
}
