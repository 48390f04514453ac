import FeathersCore
import Foundation

/// The server's result of a write, and the sign-in to which it was sent.
struct ServerResult: Sendable {
    let value: JSONValue
    /// Nil if that is uncertain: someone may sign in while a write that was queued signed out is sent.
    let sender: RequestSender?
}

extension ServerResult {
    /// - Parameters:
    ///   - value: The result.
    ///   - write: The write. If a user has queued it, it is sent as that user or not at all.
    ///   - sender: The sign-in for which it was sent.
    init(_ value: JSONValue, of write: OutboxWrite, sentAs sender: RequestSender) {
        let isCertain = write.identity == sender.identity && (write.identity != nil || sender.isFirst)
        (self.value, self.sender) = (value, isCertain ? sender : nil)
    }

    /// Returns whether the result was sent to a user, in this sign-in or an earlier one.
    func wasSent(to user: RequestSender?) -> Bool {
        guard let user, let sender else { return false }
        return user == sender || sender.identity != nil && user.identity == sender.identity
    }
}

/// The server's result of a write as it is stored, and to whom it was sent.
struct ExecutedResult: Sendable {
    let result: JSONValue
    let identity: Identity?
}

/// A write that the server has executed.
struct ExecutedWrite: Sendable {
    /// The position in the order of all executed writes.
    let number: Int
    let write: OutboxWrite
    let result: ExecutedResult
}

/// The writes of a service that were executed last. They complete kept results that are older: those that had not reached
/// the disk when the process ended, and those of queries that were not open when the writes were executed.
struct ExecutedWrites: Sendable {
    /// How many of them are stored.
    static let limit = (writes: 1024, bytes: 4 * 1024 * 1024)
    /// The size above which the result of a write is not stored.
    static let maximumSize = 64 * 1024

    /// The writes, the oldest first.
    var writes: [ExecutedWrite] = []

    /// Returns the executed writes that a user's result of the service may lack.
    /// - Parameters:
    ///   - last: The number of the last one that was stored when the result was taken.
    ///   - unsettled: The writes that were queued or unsettled then.
    func missing(_ identity: Identity?, after last: Int, _ unsettled: Set<UUID>) -> [ExecutedWrite] {
        writes.filter { each in
            each.result.identity == identity && (each.number > last || unsettled.contains(each.write.id))
        }
    }
}
