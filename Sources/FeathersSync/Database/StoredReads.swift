// Locks: Values without a lock.

public import FeathersCore

/// Whether a read of stored records asks the server first.
public enum StoredPolicy: String, Sendable, Hashable, CaseIterable {
    /// Reads from the server. While it cannot be reached, reads from this device: at once if the connection has failed,
    /// when the call fails for that reason, and after two seconds of silence if anything is stored.
    case networkFirstStoredIfUnreachable
    /// Reads from this device, at once.
    case storedOnly
}

extension Service {
    /// The reads of records that also work without the server, from the app's ``LocalStore``.
    public var stored: StoredReads<Model> { StoredReads(service: self) }

    /// Returns the same reads for records whose id is in another property, such as `_id` for MongoDB.
    /// - Parameter id: The name of the records' id property, as in ``live(_:params:id:stores:operators:)``.
    public func stored(by id: String) -> StoredReads<Model> { StoredReads(service: identified(by: id)) }
}

/// A service's reads of records by their ids, from the server or from this device.
///
/// ```swift
/// let note = try await notes.stored.get(7)
/// show(note.value)
/// if case .stored(let date) = note.source { showAge(date) }
/// ```
///
/// A record is stored if a live query of the same service, values for placeholders and user has stored it, whatever its
/// query, or if the app's outbox has written it. Records that `$select` or hooks shape for a query are not the
/// record. As in live queries, queued writes are applied, and what is stored for one user is never shown to another.
///
/// The conditions and `$select` of the params apply. A read always reaches the server, even if reads are cached.
///
/// All methods throw ``FeathersError/Code/badRequest``, before anything is read, if the app has no local store or if
/// the params have a token of their own; ``FeathersError/Code/notAuthenticated`` if the user changes meanwhile; and
/// ``FeathersError/Code/generalError`` naming the record if one cannot be decoded.
public struct StoredReads<Model: Codable & Sendable>: Sendable {
    let service: Service<Model>

    /// Returns a record.
    /// - Parameters:
    ///   - id: The id of the record. A provisional one finds the record that a queued write creates.
    ///   - policy: Whether to ask the server.
    ///   - params: The parameters of the call, as those with which the live queries were made.
    /// - Throws: ``FeathersError/Code/notFound`` if the record does not exist, or was removed;
    ///   ``FeathersError/Code/notStored`` if it is not on this device; and the errors of ``Service/get(_:query:params:)``.
    @concurrent
    public func get(
        _ id: some ServiceIDConvertible & Sendable, policy: StoredPolicy = .networkFirstStoredIfUnreachable,
        params: Params = Params()
    ) async throws -> StoredResult<Model> {
        let (reading, answer) = try await read(id.serviceID, policy, params)
        return try reading.result(answer) { record, _ in record }
    }

    /// Returns the records with these ids that exist, or that are on this device, in the order of the ids.
    /// - Parameters:
    ///   - ids: The ids. An id that occurs twice is read once.
    ///   - policy: Whether to ask the server.
    ///   - params: The parameters of the calls, as those with which the live queries were made.
    /// - Returns: The records, with the ids of those that are missing. Without a server, these may exist.
    /// - Throws: The errors of ``Service/find(ids:query:params:)``, except if the server cannot be reached.
    @concurrent
    public func find(
        ids: some Sequence<some ServiceIDConvertible> & Sendable,
        policy: StoredPolicy = .networkFirstStoredIfUnreachable, params: Params = Params()
    ) async throws -> StoredResult<[Model]> {
        var wanted = RequestedIDs()
        for id in ids { try wanted.append(id.serviceID) }
        let reading = try await reading(wanted.ids, params)
        return try await reading.results(reading.read(policy)).result
    }

    /// Returns a copy of a record to edit.
    ///
    /// You can save it, or queue its changes, like any other draft. Without a server, it is made on the stored record.
    /// - Parameters:
    ///   - id: The id of the record.
    ///   - policy: Whether to ask the server.
    ///   - params: The parameters of the read, and of the calls that save the draft.
    /// - Throws: The errors of ``get(_:policy:params:)``.
    @concurrent
    public func draft(
        _ id: some ServiceIDConvertible & Sendable, policy: StoredPolicy = .networkFirstStoredIfUnreachable,
        params: Params = Params()
    ) async throws -> StoredResult<Draft<Model>> {
        let id = try id.serviceID
        let (reading, answer) = try await read(id, policy, params)
        let source = try await DraftSource(service, id, params)
        try source.checkUser(reading.window.sender.identity)
        return try reading.result(answer) { record, row in
            // A tag belongs to the record as the server has sent it.
            try Draft(source, record, tag: row.writeState == .confirmed ? answer.tag : nil)
        }
    }

    private func read(
        _ id: ServiceID, _ policy: StoredPolicy, _ params: Params
    ) async throws -> (RecordReading<Model>, RecordReading<Model>.Answer) {
        let reading = try await reading([id], params)
        return (reading, try await reading.read(policy, withGet: true))
    }

    private func reading(_ ids: [ServiceID], _ params: Params) async throws -> RecordReading<Model> {
        guard let lists = service.app.storedLists else {
            throw FeathersError.refused("Stored records need a local store: call 'use(localStore:)' first")
        }
        let what = "A read of stored records of service '\(service.path)'"
        try service.app.refuseToken(in: params, for: what)
        try service.app.requireOwnUser(for: what)
        var params = params
        for name in ["$limit", "$skip", "$sort"] { params.query.json[name] = nil }
        let source = service.ownLive(params: params, stores: true).source
        if let refusal = source.refusal { throw refusal }
        let named = service.app.outbox?.withState { source.named($0.names) }
        return try await RecordReading(named ?? source, ids, lists)
    }
}

/// Records that were read by their ids, and where they come from.
public struct StoredResult<Value: Sendable>: Sendable {
    /// The record, the records, or the draft.
    public let value: Value
    /// Where the records come from. From this device, the date is the one at which the newest stored list that has the
    /// record was up to date, of several records the earliest one. It is `.distantPast` if no list has it, as after an
    /// executed write, and for records that are still queued.
    public let source: ResultSource
    /// The ids without a record: the server does not show any, or none is on this device.
    public let missing: [ServiceID]
    /// Whether queued writes are applied to the records.
    public let hasPendingWrites: Bool
}

extension FeathersError.Code {
    /// The record is not on this device, and the server was not asked, or cannot be reached. The code is the one of a
    /// read that a cache cannot answer.
    public static let notStored: Self = 504
}
