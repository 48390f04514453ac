public import FeathersCore

/// The current result of a query, delivered again whenever it changes.
///
/// ```swift
/// for try await messages in app.service("messages", of: Message.self).live(.sorted(by: "createdAt", .descending).limit(20)) {
///     show(messages)
/// }
/// ```
///
/// A live query fetches its result once, always from the server, then follows the service's events: records that are created, changed or removed, or
/// that move into or out of the query. It fetches again when events are not enough: after a reconnection, after a buffer overflow, and when a limited
/// result has lost more records than were fetched beyond its limit.
///
/// The sequence throws when the first fetch fails, or when a later fetch fails in a way that a retry would not fix. While the server cannot be
/// reached, it waits and retries. When the signed-in user changes, the result is empty until the next user's records are fetched. If the service
/// requires a sign-in, it stays empty while no one is signed in. The sequence ends when you drop the iterator or cancel the task that reads it.
public struct LiveQuery<Element: Sendable>: AsyncSequence, Sendable {
    fileprivate(set) var source: LiveSource<Element>

    /// The same results as snapshots, each with the changes since the previous one.
    public var snapshots: some AsyncSequence<LiveSnapshot<Element>, any Error> & Sendable { LiveSnapshots(source: source) }
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: LiveReader(source)) }

    /// Returns the same query with another clock for the delays between fetch attempts.
    package func measured(by clock: any Clock<Duration>) -> LiveQuery {
        var query = self
        query.source.clock = clock
        return query
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        var reader: LiveReader<Element>

        /// Returns the next result that differs from the previous one. The first result arrives as soon as it is fetched.
        /// - Throws: ``FeathersError`` if the result cannot be fetched or a record cannot be decoded, or `CancellationError`.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> [Element]? {
            try await reader.next(isolation: actor)?.records
        }
    }
}

/// The snapshots of a live query.
struct LiveSnapshots<Record: Sendable>: AsyncSequence, Sendable {
    let source: LiveSource<Record>

    func makeAsyncIterator() -> LiveReader<Record> { LiveReader(source) }
}

/// What a live query reads: a service, a query, and how to turn results into elements.
struct LiveSource<Element: Sendable>: Sendable {
    let service: UntypedService
    let query: Query
    let params: Params
    /// The name of the records' id property.
    let id: String
    var clock: any Clock<Duration> = ContinuousClock()
    /// Why the query cannot be encoded. The reader throws it.
    var refusal: FeathersError?
    /// Parses a result of `find`.
    var read: @Sendable (JSONValue) throws -> Paginated<JSONValue> = { try Paginated(json: $0) }
    /// Converts a record to an element; returns nil to leave it out.
    let decode: @Sendable (JSONValue) throws -> Element?
}

extension UntypedService {
    /// Returns the current result of a query, updated by the service's events.
    /// - Parameters:
    ///   - query: The conditions, `$sort`, `$limit`, `$skip` and `$select`, as for `find`. Records that compare equal are sorted by id.
    ///     With `$skip`, most events cause a fetch, because the skipped records are unknown.
    ///   - params: Sent with every fetch: header fields, a timeout and your own values.
    ///   - id: The name of the records' id property, such as `_id` for MongoDB.
    public func live(_ query: Query = Query(), params: Params = Params(), id: String = "id") -> LiveQuery<JSONValue> {
        LiveQuery(source: LiveSource(service: self, query: query, params: params, id: id) { $0 })
    }
}

extension TypedService {
    /// Returns the current result of a query as models, updated by the service's events; see ``UntypedService/live(_:params:id:)``.
    public func live(_ query: Query = Query(), params: Params = Params(), id: String = "id") -> LiveQuery<Model> {
        LiveQuery(
            source: LiveSource(service: untyped, query: query, params: params, id: id, read: page) { try decodeListed($0, at: nil, params) }
        )
    }

    /// Returns the current result of a typed query, updated by the service's events; see ``UntypedService/live(_:params:id:)``.
    ///
    /// If the query cannot be encoded, reading the first result throws ``FeathersError/Code/badRequest``.
    public func live(_ query: TypedQuery<Model>, params: Params = Params(), id: String = "id") -> LiveQuery<Model> {
        do {
            return live(try written(query, params), params: params, id: id)
        } catch {
            var refused = live(params: params, id: id)
            refused.source.refusal = error
            return refused
        }
    }
}
