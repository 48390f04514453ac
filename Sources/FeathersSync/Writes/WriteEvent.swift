import FeathersCore
import Foundation

/// A step in the life of queued writes. The file, the queue, the names and the live queries take each event, in this
/// order.
enum WriteEvent: Sendable {
    /// Writes were queued: one, or those of a group, all of them or none.
    case queued([OutboxWrite])
    /// Writes were rewritten by a newer version of the app, all of them or none.
    case migrated([OutboxWrite])
    /// All writes that were queued while no one was signed in belong to a user from now on.
    case taken(by: Identity)
    /// An attempt begins. From now on, the write may have been executed.
    case begun(UUID)
    /// An attempt ended without an outcome. `execution` is what is known of all attempts. A decision that is needed is not
    /// stored, because a later process may know the server to recognize a repetition.
    case deferred(UUID, SendVerdict.Course, FeathersError.Execution)
    /// A decision is needed.
    case failed(OutboxFailure)
    /// The write is to be sent again: unchanged, or with other data and another key.
    case decided(UUID, Replacement?)
    /// The write was executed or discarded.
    case ended(WriteEnd)

    /// Whether the event has happened even if it cannot be stored. It is then stored with the next event.
    var isFact: Bool {
        switch self {
        case .deferred, .failed: true
        case .ended(let end): end.isExecuted
        case .queued, .migrated, .taken, .begun, .decided: false
        }
    }
}

/// The end of a write.
struct WriteEnd: Sendable {
    enum Outcome: Sendable {
        case executed(ServerResult)
        /// The app has named the record that the write has created.
        case named(ServiceID)
        case discarded
    }

    let write: UUID
    var outcome: Outcome
    /// The names of the records that the write has created, or would have created, with those of its dependents.
    var names: [String: Names.Name] = [:]
    /// The service and route of the record that it has created; nil if it has created none.
    var place: String?
    /// The user who receives the records of an executed write; nil if they are not stored.
    var stored: ExecutedResult?
    /// The writes that are discarded with it.
    var dependents: [UUID: OutboxReferences.Dependence] = [:]

    var isExecuted: Bool { if case .executed = outcome { true } else { false } }
}

/// What is sent instead of a write.
struct Replacement: Sendable {
    let key: UUID
    let data: JSONValue?
    /// The server's record that the data was made for.
    var base: JSONValue?
    /// The tag of that record.
    var tag: String?
}

extension UUID {
    /// The lowercase form, as written by JavaScript libraries.
    var text: String { uuidString.lowercased() }
}
