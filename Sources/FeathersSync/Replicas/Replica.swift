public import FeathersCore
import FeathersSupport
import Foundation

/// A part of a service that is on this device: fetched once, then kept up to date by what has changed.
///
/// ```swift
/// let replica = try await app.replicate(
///     messages, .where(.room, room), version: .updatedAt, removals: .softDelete(.deletedAt))
/// for try await snapshot in replica.live(.sorted(by: .updatedAt).limit(50)).snapshots {
///     show(snapshot)
/// }
/// ```
///
/// Queries whose conditions include those of the replica are answered from this device, also offline: the methods of the
/// replica, and the live queries, counts and relations of its service. Events and queued writes change the results as
/// always. A query that cannot be evaluated on this device goes to the server.
///
/// A replica belongs to the user who is signed in. Another user gets another one, and sees nothing of this one.
public struct Replica<Model: Codable & Sendable>: Sendable {
    let service: Service<Model>
    let stored: StoredReplica
    private let params: Params

    init(_ service: Service<Model>, _ stored: StoredReplica, _ params: Params) {
        (self.service, self.stored, self.params) = (service, stored, params)
    }

    /// How far the replica is: now, and after each change.
    public var progress: AsyncStream<ReplicaProgress> { stored.progress.updates() }

    /// Returns the records that meet a query, with queued writes applied.
    ///
    /// Until the first copy is complete, they are read from the server, in pages.
    /// - Parameter query: Further conditions, `$sort`, `$limit`, `$skip` and `$select`.
    /// - Throws: ``FeathersError/Code/notStored`` if the first copy is not complete and the server cannot be reached, and
    ///   the errors of ``live(_:)``.
    @concurrent
    public func find(_ query: Query<Model> = Query()) async throws -> [Model] {
        guard stored.open?.head.isComplete == true else { return try await findAtServer(query) }
        for try await snapshot in live(query).snapshots {
            // Queued writes are known before the records are read.
            if case .stored(let date) = snapshot.source, date == .distantPast { continue }
            return Array(snapshot.records)
        }
        throw CancellationError()
    }

    private func findAtServer(_ query: Query<Model>) async throws -> [Model] {
        let source = live(query).source
        if let refusal = source.refusal { throw refusal }
        do {
            var found: [Model] = []
            for try await record in service.pages(Query(source.query.json), params: params).records {
                found.append(record)
            }
            return found
        } catch let error as FeathersError where error.saysUnreachable {
            throw isIncomplete
        }
    }

    /// Returns the record with an id.
    /// - Throws: ``FeathersError/Code/notFound`` if the replica does not have it, and the errors of ``find(_:)``.
    @concurrent
    public func get(_ id: some ServiceIDConvertible & Sendable) async throws -> Model {
        let id = try id.serviceID
        guard let record = try await find(Query().where(service.idProperty, id.json)).first else {
            throw FeathersError(
                .notFound, "The replica of service '\(service.path)' has no record '\(id)'", execution: .neverSent)
        }
        return record
    }

    /// Returns the current result of a query, updated by events, queued writes and what the replica learns.
    ///
    /// It opens without a request. Until the first copy is complete, it is that of ``Service/live(_:params:id:stores:operators:)``.
    /// - Parameter query: Further conditions, `$sort`, `$limit`, `$skip` and `$select`.
    public func live(_ query: Query<Model> = Query()) -> LiveQuery<Model> {
        var live = service.live(query, params: params)
        live.source.query = stored.filter.joined(with: stored.removals.condition).joined(with: live.source.query)
        return live
    }

    /// Returns the number of records that meet a query's conditions, and each change of it.
    ///
    /// Counting takes time for each record that the conditions on the replica's indexes leave.
    /// - Parameter query: Further conditions.
    public func liveCount(_ query: Query<Model> = Query()) -> some AsyncSequence<Int, any Error> & Sendable {
        var live = live(query)
        live.source.query = live.source.query.counting
        return LiveCounts(source: live.source)
    }

    /// Ends the replica, and removes the records that nothing else on this device refers to.
    /// - Throws: an error that names the file if they cannot be removed.
    public func remove() async throws {
        stored.lists.replicas.remove(stored)
        guard let key = stored.remove() else { return }
        try await stored.lists.database.write { database in
            guard let head = try ReplicaTables.head(key, in: database) else { return }
            try database.execute("DELETE FROM lists WHERE number = ?", SQLiteValue(head.list))
            try ReplicaTables.removeRemains(in: database)
            try LocalRoom.removeUnused(of: head.service, in: database)
        }
    }

    private var isIncomplete: FeathersError {
        var error = FeathersError(
            .notStored,
            "The replica of service '\(service.path)' is not complete, and the server cannot be reached",
            execution: .neverSent)
        (error.name, error.className) = ("NotStored", "not-stored")
        return error
    }
}

extension FeathersApp {
    /// Keeps a part of a service on this device.
    ///
    /// It is copied in pages while the app is running, and resumed if the app ends meanwhile. Later, only what has
    /// changed is read. Any FeathersJS server will do, if its records have a version: a date or a whole number that each
    /// change sets to a greater value than any record had before, with an index in the database.
    /// - Parameters:
    ///   - service: The service.
    ///   - query: The conditions that name the part. Those that change are better left to queries: a record that leaves
    ///     them unnoticed is found by the next comparison of ids.
    ///   - version: The property with the version of a record, such as `updatedAt`.
    ///   - removals: How removed records are found.
    ///   - indexes: The properties by which queries find records, the one that leaves the fewest records first.
    ///   - overlap: How much earlier than the last known change the next differences begin, because a server may store
    ///     a change some time after it has set its date, and because the clocks of several servers differ.
    ///   - params: Sent with every request: header fields, a timeout and your own values.
    /// - Returns: The replica; the one that there is if it has been called with the same arguments before.
    /// - Throws: ``FeathersError/Code/conflict`` if there is one of the same records that is kept in another way;
    ///   ``FeathersError/Code/badRequest`` if the app has no local store that it writes, or if the query has
    ///   `$limit`, `$skip`, `$sort`, `$select`, or conditions that cannot be evaluated on this device, or if the path has
    ///   placeholders; and an error that
    ///   names the file if it cannot be read.
    public func replicate<Model: Codable & Sendable>(
        _ service: Service<Model>, _ query: Query<Model> = Query(), version: String,
        removals: Replica<Model>.Removals = .comparingIDs(), indexes: [String] = [],
        overlap: Duration = .seconds(30), params: Params = Params()
    ) async throws -> Replica<Model> {
        let what = "A replica of service '\(service.path)'"
        guard let lists = storedLists, !lists.store.isReadOnly else {
            throw FeathersError.refused(
                "\(what) needs a local store that the app writes: call 'use(localStore:)' first")
        }
        try refuseToken(in: params, for: what)
        try requireOwnUser(for: what)
        let source = service.ownLive(query, params: params, stores: true).source
        if let refusal = source.refusal { throw refusal }
        var names = [source.id]
        for name in indexes where !names.contains(name) { names.append(name) }
        let replica = try StoredReplica(
            source.ofRecords, version: version, removals: removals.removals, indexes: names, overlap: overlap, lists)
        // Opened first, so that queries are answered from the beginning.
        if !lists.replicas.all.contains(where: { $0.hasRecords(of: replica) }) {
            _ = try await replica.open(for: resolvedSender().identity)
        }
        let known = lists.replicas.added(replica)
        guard known === replica || known.isKept(as: replica) else {
            throw FeathersError(
                .conflict, "\(what) with these conditions has other removals, indexes or another overlap already",
                execution: .neverSent)
        }
        return Replica(service, known, params)
    }

    /// Keeps a part of a service on this device.
    /// - Parameters:
    ///   - service: The service.
    ///   - query: The conditions that name the part.
    ///   - version: The property with the version of a record: a date or a whole number that each change increases.
    ///   - removals: How removed records are found.
    ///   - indexes: The properties by which queries find records, the one that leaves the fewest records first.
    ///   - overlap: How much earlier than the last known change the next differences begin.
    ///   - params: Sent with every request: header fields, a timeout and your own values.
    /// - Throws: The errors of ``replicate(_:_:version:removals:indexes:overlap:params:)-swift.method``.
    public func replicate<Model: Codable & Queryable>(
        _ service: Service<Model>, _ query: Query<Model> = Query(), version: Model.QueryKeys,
        removals: Replica<Model>.Removals = .comparingIDs(), indexes: [Model.QueryKeys] = [],
        overlap: Duration = .seconds(30), params: Params = Params()
    ) async throws -> Replica<Model> {
        let format = service.ownLive(Query(), params: params, stores: true).source.keyFormat
        var named = removals.removals
        named.mark = named.mark.map { format.key(of: $0) }
        return try await replicate(
            service, query, version: format.key(of: version.stringValue), removals: .init(removals: named),
            indexes: indexes.map { format.key(of: $0.stringValue) }, overlap: overlap, params: params)
    }
}
