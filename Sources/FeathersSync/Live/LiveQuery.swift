public import FeathersCore

/// The current result of a query, delivered again each time it changes.
///
/// ```swift
/// for try await messages in app.service("messages", of: Message.self).live(.sorted(by: "createdAt", .descending).limit(20)) {
///     show(messages)
/// }
/// ```
///
/// A live query fetches once, from the server even where reads are cached, then follows the service's events: records that are created, change, are removed, or move in and out of
/// the query. It fetches again where events are not enough: after a reconnection, after a buffer overflow, and when a limited result has lost
/// more records than were fetched beyond its limit.
///
/// The sequence throws when the first fetch fails, or when a later one fails in a way that repeating would not fix. While the server cannot be
/// reached, it waits and tries again. When the signed-in user changes, it shows nothing until the records of the next user are fetched; signed out of a
/// service that requires a sign-in, it stays empty. It ends when you drop the iterator or cancel the task that reads it.
public struct LiveQuery<Element: Sendable>: AsyncSequence, Sendable {
    let source: LiveSource<Element>

    /// The same results, each with what has changed since the one before.
    public var snapshots: LiveSnapshots<Element> { LiveSnapshots(source: source) }
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(snapshots: snapshots.makeAsyncIterator()) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        var snapshots: LiveSnapshots<Element>.AsyncIterator

        /// The next result that differs from the one before. The first one arrives as soon as it is fetched.
        /// - Throws: ``FeathersError`` when the result cannot be fetched or a record does not decode, `CancellationError`.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> [Element]? {
            try await snapshots.next(isolation: actor)?.records
        }
    }
}

/// The results of a live query, each with what has changed since the one before; see ``LiveQuery``.
public struct LiveSnapshots<Record: Sendable>: AsyncSequence, Sendable {
    let source: LiveSource<Record>

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: LiveReader(source)) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        var reader: LiveReader<Record>

        /// The next snapshot that differs from the one before. The first one arrives as soon as the result is fetched.
        /// - Throws: ``FeathersError`` when the result cannot be fetched or a record does not decode, `CancellationError`.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> LiveSnapshot<Record>? {
            try await reader.next(isolation: actor)
        }
    }
}

/// What a live query reads: a service, a query, and how results become elements.
struct LiveSource<Element: Sendable>: Sendable {
    let service: UntypedService
    let query: Query
    let params: Params
    /// The name of the records' id property.
    let id: String
    let clock: any Clock<Duration>
    /// Reads a result of `find`.
    var read: @Sendable (JSONValue) throws -> Paginated<JSONValue> = { try Paginated(json: $0) }
    let decode: @Sendable (JSONValue) throws -> Element
}

extension UntypedService {
    /// The current result of a query, updated by the service's events.
    /// - Parameters:
    ///   - query: The conditions, `$sort`, `$limit`, `$skip` and `$select`, as for `find`. Records that compare equal are sorted by their id.
    ///     With `$skip`, most events cause a fetch, since the skipped records are not known.
    ///   - params: Sent with every fetch: header fields, a timeout, your own values.
    ///   - id: The name of the records' id property, `_id` with MongoDB.
    ///   - clock: Measures the pauses between attempts to fetch.
    public func live(
        _ query: Query = Query(), params: Params = Params(), id: String = "id", clock: any Clock<Duration> = ContinuousClock()
    ) -> LiveQuery<JSONValue> {
        LiveQuery(
            source: LiveSource(service: self, query: params.query.joined(with: query), params: params.withoutQuery, id: id, clock: clock) {
                $0
            })
    }
}

extension TypedService {
    /// The current result of a query as models, updated by the service's events; see ``UntypedService/live(_:params:id:clock:)``.
    public func live(
        _ query: Query = Query(), params: Params = Params(), id: String = "id", clock: any Clock<Duration> = ContinuousClock()
    ) -> LiveQuery<Model> {
        LiveQuery(
            source: LiveSource(
                service: untyped, query: params.query.joined(with: query), params: params.withoutQuery, id: id, clock: clock, read: page
            ) { try decodeRecord($0, params) })
    }

    /// The current result of a typed query, updated by the service's events; see ``UntypedService/live(_:params:id:clock:)``.
    /// - Throws: ``FeathersError/Code/badRequest`` naming the property whose name on the server is not known.
    public func live(
        _ query: TypedQuery<Model>, params: Params = Params(), id: String = "id", clock: any Clock<Duration> = ContinuousClock()
    ) throws -> LiveQuery<Model> { try live(written(query, params), params: params, id: id, clock: clock) }
}
