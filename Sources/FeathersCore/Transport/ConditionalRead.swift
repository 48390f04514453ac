import FeathersSupport

/// A read whose caller may still hold the answer, so that the server need not send it again (HTTP's `ETag` and `If-None-Match`).
///
/// It travels in ``Params`` under its own type. A transport that can, asks with the held answer's tag, gives that answer where the server says it
/// is still right, and notes what it was told; any other transport ignores it. Hooks see an ordinary call.
package final class ConditionalRead: ParamsKey, Sendable {
    package typealias Value = ConditionalRead

    /// An answer as the transport gave it, before any hook, and its tag.
    package struct Answer: Sendable {
        package let entityTag: String
        package let value: JSONValue

        package init(entityTag: String, value: JSONValue) {
            self.entityTag = entityTag
            self.value = value
        }
    }

    package enum Outcome: Sendable {
        /// The held answer still holds.
        case notModified
        /// The server sent an answer; with its tag, where it has one.
        case answered(Answer?)
    }

    /// What the caller holds.
    package let held: Answer?
    private let path: String
    private let method: ServiceMethod
    private let id: ServiceID?
    private let noted = Locked<Outcome?>(nil)

    /// A read of a service that holds an answer, or would like to.
    package init(_ method: ServiceMethod, _ id: ServiceID?, at path: String, holding held: Answer?) {
        (self.method, self.id, self.path) = (method, id, path)
        self.held = held
    }

    /// The read a request belongs to. A hook may hand its params on to other calls, which are none of it.
    package static func of(_ request: ServiceRequest) -> ConditionalRead? {
        guard let read = request.params[ConditionalRead.self] else { return nil }
        return read.path == request.path && read.method == request.method && read.id == request.id ? read : nil
    }

    /// What the last attempt came to; nil where the transport takes no part, or nothing came.
    package var outcome: Outcome? { noted.withLock { $0 } }

    package func note(_ outcome: Outcome) {
        noted.withLock { $0 = outcome }
    }
}
