import FeathersCore

/// The current result of a query, again and again as it changes.
///
/// ```swift
/// for try await messages in app.service("messages", of: Message.self).live(.sorted(by: "createdAt", .descending).limit(20)) {
///     show(messages)
/// }
/// ```
///
/// It fetches once and is then kept right by the service's events: records that come, change, go, or move in and out of the query. It
/// fetches again where events cannot tell: after a reconnection, after an overflow, and when a limited result has lost more records
/// than it knew beyond its end. The first fetch's failure ends the sequence, and later ones that repeating would not mend; while the
/// server cannot be reached it waits and tries again. Dropping or cancelling the reader ends it.
public struct LiveQuery<Element: Sendable>: AsyncSequence, Sendable {
    let source: LiveSource<Element>

    /// The same results together with what has changed in each.
    public var snapshots: LiveSnapshots<Element> { LiveSnapshots(source: source) }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(snapshots: snapshots.makeAsyncIterator())
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        var snapshots: LiveSnapshots<Element>.AsyncIterator

        /// The next result that differs from the one before; the first as soon as it is fetched.
        /// - Throws: ``FeathersError`` where the result cannot be fetched or a record is no `Element`, `CancellationError`.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> [Element]? {
            try await snapshots.next(isolation: actor)?.records
        }
    }
}

/// What a live query is of, before anybody reads it.
struct LiveSource<Element: Sendable>: Sendable {
    let service: Service
    let query: Query
    let params: Params
    /// The name of the records' id property.
    let id: String
    let clock: any Clock<Duration>
    /// Reads a result of `find`.
    var read: @Sendable (JSONValue) throws -> Paginated<JSONValue> = { try Paginated(json: $0) }
    let decode: @Sendable (JSONValue) throws -> Element
}
