// Locks: State of one reader, in the task that reads its counts.

public import FeathersCore

extension Service {
    /// Returns the number of records that meet a query's conditions, and each change of it.
    ///
    /// ```swift
    /// let unread = messages.liveCount(.where(.channelID, channel.id).where(.isRead, false))
    /// for try await count in unread { badge = count }
    /// ```
    ///
    /// The server is asked for its `total` with a `$limit` of 0, so no records are sent. Events of the service change the
    /// count at once if the conditions can be evaluated locally and the record's former state is known, as for records
    /// that are created or removed, and for those that other live queries show. After other events, after a
    /// reconnection, and after a change during a fetch, the server is asked again, a quarter of a second later; also
    /// after the first event that follows a fetch, because the server may have counted its record already. At rest, the
    /// count is the `total` of `find`.
    ///
    /// Writes that are queued in the app's ``Outbox`` count at once, if they create a record or change one that a live
    /// query shows. With a ``LocalStore``, the sequence begins with the last count from disk. When the signed-in user
    /// changes, the count is 0 until the next user's is fetched.
    ///
    /// The sequence throws as a live query does, and ``FeathersError/Code/notImplemented`` if the service reports no
    /// `total`, because it has no pagination. Count the records of a live query instead.
    /// - Parameters:
    ///   - query: The conditions. `$sort`, `$limit`, `$skip` and `$select` have no effect.
    ///   - params: Sent with every fetch: header fields, a timeout and your own values.
    ///   - id: The name of the records' id property. By default, that of the service's definition, or `id`.
    ///   - stores: Whether the count is stored in the app's ``LocalStore``, if there is one.
    ///   - operators: Closures for operators in the query that are not Feathers' own.
    public func liveCount(
        _ query: Query<Model> = Query(), params: Params = Params(), id: String? = nil, stores: Bool = true,
        operators: [QueryOperator] = []
    ) -> some AsyncSequence<Int, any Error> & Sendable {
        var live = live(query, params: params, id: id, stores: stores, operators: operators)
        live.source.query = live.source.query.counting
        return LiveCounts(source: live.source)
    }
}

extension Query<JSONValue> {
    /// The query for the number of its records.
    var counting: Query {
        var query = self
        for name in ["$sort", "$skip", "$select"] { query.json[name] = nil }
        return query.limit(0)
    }
}

/// The counts of a live query.
struct LiveCounts<Model: Sendable>: AsyncSequence, Sendable {
    let source: LiveSource<Model>

    func makeAsyncIterator() -> Iterator { Iterator(path: source.service.path, reader: LiveSnapshotReader(source)) }

    struct Iterator: AsyncIteratorProtocol {
        let path: String
        var reader: LiveSnapshotReader<Model>
        private var last: Int?

        init(path: String, reader: LiveSnapshotReader<Model>) { (self.path, self.reader) = (path, reader) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> Int? {
            while let snapshot = try await reader.next(isolation: actor) {
                // What was shown to the previous user is taken away.
                let count = try snapshot.count(at: path) ?? (last == nil ? nil : 0)
                guard let count, count != last else { continue }
                last = count
                return count
            }
            return nil
        }
    }
}

extension LiveSnapshot {
    /// Returns the number of records in the whole result; nil if it is not known yet.
    /// - Throws: ``FeathersError/Code/notImplemented`` if the service reports none.
    func count(at path: String) throws(FeathersError) -> Int? {
        if total == nil, source == .server {
            throw FeathersError(
                .notImplemented,
                "Service '\(path)' reports no total, because it has no pagination: count the records of a live query",
                execution: .answered)
        }
        return total
    }
}
