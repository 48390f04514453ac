// Locks: Values without a lock.

import FeathersCore
import Foundation

/// The server's result of a write, and the sign-in to which it was sent.
struct ServerResult: Sendable {
    let value: JSONValue
    /// Nil if that is uncertain: someone may sign in while a write that was queued signed out is sent.
    let sender: RequestSender?
    /// The number of the change that has stored its records; 0 if they are not stored.
    var change = 0
}

extension ServerResult {
    /// - Parameters:
    ///   - value: The result.
    ///   - write: The write. If a user has queued it, it is sent as that user or not at all.
    ///   - sender: The sign-in for which it was sent.
    init(_ value: JSONValue, of write: OutboxWrite, sentAs sender: RequestSender) {
        let isCertain = write.identity == sender.identity && (write.identity != nil || sender.isFirst)
        self.init(value: value, sender: isCertain ? sender : nil)
    }

    /// Returns whether the result was sent to a user, in this sign-in or an earlier one.
    func wasSent(to user: RequestSender?) -> Bool {
        guard let user, let sender else { return false }
        return user == sender || sender.identity != nil && user.identity == sender.identity
    }
}

/// The server's result of a write, whose records are stored with the end of the write.
struct ExecutedResult: Sendable {
    let write: OutboxWrite
    let result: JSONValue
    /// The user to whom it was sent.
    let identity: Identity?
}
