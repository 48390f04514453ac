// Locks: Values without a lock. The windows of a query are in its `LiveControl`.

public import FeathersCore

/// The current result of a query, delivered again whenever it changes.
///
/// ```swift
/// let newest = app.service("messages", of: Message.self).live(
///     .sorted(by: "createdAt", .descending).limit(20))
/// for try await messages in newest {
///     show(messages)
/// }
/// ```
///
/// A live query fetches its result once, always from the server, then follows the service's events: records that are
/// created, changed or removed, or that move into or out of the query. It fetches again when events are not enough:
/// after a reconnection, after a buffer overflow, and when a limited result has lost more records than were fetched
/// beyond its limit.
///
/// Writes that are queued in the app's ``Outbox`` show at once, in their place and within the limit. With a
/// ``LocalStore``, the query opens with its last result from disk. ``snapshots`` say which records are pending and
/// where they come from.
///
/// Each result is an array, which takes time for each of its records. For long lists, read ``snapshots``, whose records
/// are shared with the previous snapshot: a change in 100,000 records then costs little more than in 1,000.
///
/// A record that the model cannot be decoded from is left out, with a warning: see
/// ``FeathersApp/requiresDecodableRecords``.
///
/// The sequence throws when the first fetch fails, or when a later fetch fails in a way that a retry would not fix.
/// While the server cannot be reached, it waits and retries. When the signed-in user changes, the result is empty until
/// the next user's records are fetched. If the service requires a sign-in, it stays empty while no one is signed in.
/// The sequence ends when you drop the iterator or cancel the task that reads it.
public struct LiveQuery<Element: Sendable>: AsyncSequence, Sendable {
    var source: LiveSource<Element>

    /// The same results as snapshots, each with the changes since the previous one.
    public var snapshots: some AsyncSequence<LiveSnapshot<Element>, any Error> & Sendable {
        LiveSnapshots(source: source)
    }
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: LiveSnapshotReader(source)) }

    /// Returns the same query with another clock for the delays between fetch attempts.
    package func measured(by clock: any Clock<Duration>) -> LiveQuery {
        var query = self
        query.source.clock = clock
        return query
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        var reader: LiveSnapshotReader<Element>
        private var isFirst = true

        init(reader: LiveSnapshotReader<Element>) { self.reader = reader }

        /// Returns the next result that differs from the previous one. The first result arrives as soon as it is
        /// fetched.
        /// - Throws: ``FeathersError`` if the result cannot be fetched, or if a record cannot be decoded and
        ///   ``FeathersApp/requiresDecodableRecords`` is set; or `CancellationError`.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> [Element]? {
            while let snapshot = try await reader.next(isolation: actor) {
                // Snapshots may also differ in their states, their total or their source.
                if isFirst || !snapshot.difference.isEmpty {
                    isFirst = false
                    return Array(snapshot.records)
                }
            }
            return nil
        }
    }
}

/// The snapshots of a live query.
struct LiveSnapshots<Record: Sendable>: AsyncSequence, Sendable {
    let source: LiveSource<Record>

    func makeAsyncIterator() -> LiveSnapshotReader<Record> { LiveSnapshotReader(source) }
}

/// What a live query reads: a service, a query, and how to turn results into elements.
struct LiveSource<Element: Sendable>: Sendable {
    let service: Service<JSONValue>
    var query: Query<JSONValue>
    var params: Params
    /// The name of the records' id property.
    let id: String
    /// Whether the list is stored in the app's local store.
    var stores = true
    var operators: [QueryOperator] = []
    /// How the service writes the names of a model's properties.
    var keyFormat = JSONKeyFormat.asIs
    var clock: any Clock<Duration> = ContinuousClock()
    /// The windows of those who read the query.
    var control = LiveControl()
    /// The record around which the list begins, and the number of records there.
    var anchor: LiveAnchor?
    /// What this device has of the list, if it is a half of one around a record.
    var half: StoredHalf?
    /// The number of records that the list has beyond its limit when it opens, and the value of the first sorted
    /// property at which it begins, if it is a half of one around a record.
    var growth = 0
    var boundary: JSONValue?
    /// The end of the list at which the result grows.
    var end = LiveEnd.end
    /// The records to read with each record.
    var relations: [any AnyRelation] = []
    /// Conditions that change while the query is read.
    var conditions: [any LiveCondition] = []
    /// The relation whose records these are, if any.
    var relation: RelationSource?
    /// Why the query cannot be encoded. The reader throws it.
    var refusal: FeathersError?
    /// Parses a result of `find`.
    let read: @Sendable (JSONValue) throws -> Page<JSONValue>
    /// Whether the elements are the records themselves, so that nothing is decoded.
    var showsRecords = false
    /// Returns a function that converts records to elements. If it warns, it may return nil for a record to leave out;
    /// otherwise, it throws.
    let decoder: @Sendable (_ warns: Bool) -> (JSONValue) throws -> Element?
}

extension LiveSource {
    /// The same query with records as its elements.
    var ofRecords: LiveSource<JSONValue> {
        var source = LiveSource<JSONValue>(
            service: service, query: query, params: params, id: id, stores: stores, operators: operators,
            keyFormat: keyFormat, clock: clock, control: control, refusal: refusal, read: read, showsRecords: true,
            decoder: { _ in { $0 } })
        source.relation = relation
        return source
    }
}

extension Service {
    /// Returns the current result of a query, updated by the service's events and by queued writes.
    ///
    /// A record that a queued write creates has a provisional id: a UUID as text, or a negative number if the model's
    /// id is a number. It is left out while it lacks properties that the model needs.
    ///
    /// If a date of the query cannot be written in the service's format, reading the first result throws
    /// ``FeathersError/Code/badRequest``.
    /// - Parameters:
    ///   - query: The conditions, `$sort`, `$limit`, `$skip` and `$select`, as for `find`. Records that compare equal
    ///     are sorted by id. With `$skip`, most events cause a fetch, because the skipped records are unknown.
    ///   - params: Sent with every fetch: header fields, a timeout and your own values.
    ///   - id: The name of the records' id property, such as `_id` for MongoDB. By default, that of the service's
    ///     definition, or `id`.
    ///   - stores: Whether the list is stored in the app's ``LocalStore``, if there is one. Pass `false` for records
    ///     that must not stay on this device.
    ///   - operators: Closures for operators in the query that are not Feathers' own, such as `$like`. For an operator
    ///     at the top level, such as `$search`, the closure receives the record. If an operator has no closure, the
    ///     result is fetched again after events of the service.
    public func live(
        _ query: Query<Model> = Query(), params: Params = Params(), id: String? = nil, stores: Bool = true,
        operators: [QueryOperator] = []
    ) -> LiveQuery<Model> {
        var params = params
        if !app.requiresDecodableRecords { params.skipsUndecodableRecords = true }
        var live = ownLive(query, params: params, id: id, stores: stores, operators: operators)
        // Where a live query is created decides for whom it is, because it may be read elsewhere.
        do {
            try app.refuseToken(for: "A live query")
            try app.requireOwnUser(for: "A live query of service '\(path)'")
        } catch { live.source.refusal = live.source.refusal ?? error }
        return live
    }

    /// Returns a live query for what belongs to the app's own user already, such as a live query's related records.
    func ownLive(
        _ query: Query<Model> = Query(), params: Params, id: String? = nil, stores: Bool,
        operators: [QueryOperator] = []
    ) -> LiveQuery<Model> {
        let written = Result { () throws(FeathersError) in try query.written(for: codec(for: params)) }
        let refusal: FeathersError? = if case .failure(let error) = written { error } else { nil }
        return LiveQuery(
            source: LiveSource(
                service: json, query: (try? written.get()) ?? Query(), params: params, id: id ?? idProperty,
                stores: stores, operators: operators,
                keyFormat: (codec(for: params) as? CodingOptions)?.keys ?? .asIs, refusal: refusal, read: page,
                showsRecords: Model.self == JSONValue.self
            ) { warns in
                var params = params
                if !warns { params.skipsUndecodableRecords = false }
                let decode = listDecoder(for: params)
                return { [params] in try decodeListed($0, at: nil, params, decode) }
            })
    }
}
