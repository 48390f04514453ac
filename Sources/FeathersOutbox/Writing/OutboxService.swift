public import FeathersCore

/// The writes of a service through its app's outbox: each returns once it is on the disk, connected or not.
///
/// All throw ``FeathersError/Code/notImplemented`` where the app has no outbox, ``FeathersError/Code/badRequest`` where the data cannot be
/// written as JSON, and a ``FeathersError`` naming the file where the disk does not take it; nothing is in the outbox then.
public struct OutboxService: Sendable {
    let service: Service

    /// Creates a record. It is sent in no particular order, unless the record's id is known: see ``IdempotencyKeyPlace/recordID(_:)``.
    /// - Parameters:
    ///   - data: the record.
    ///   - query: goes with the call.
    ///   - route: values for the `:placeholders` of the service's path.
    @discardableResult
    public func create(_ data: JSONValue, _ query: Query = Query(), route: [String: String] = [:]) async throws -> QueuedWrite<JSONValue> {
        try await add(Outbox.Draft(method: .create, data: data, query: query, route: route))
    }

    /// Replaces a record, after all that is to be done to it before.
    @discardableResult
    public func update(
        _ id: some ServiceIDConvertible, with data: JSONValue, _ query: Query = Query(), route: [String: String] = [:]
    ) async throws -> QueuedWrite<JSONValue> {
        try await add(Outbox.Draft(method: .update, recordID: id.serviceID, data: data, query: query, route: route))
    }

    /// Merges data into a record, after all that is to be done to it before.
    @discardableResult
    public func patch(
        _ id: some ServiceIDConvertible, with data: JSONValue, _ query: Query = Query(), route: [String: String] = [:]
    ) async throws -> QueuedWrite<JSONValue> {
        try await add(Outbox.Draft(method: .patch, recordID: id.serviceID, data: data, query: query, route: route))
    }

    /// Removes a record, after all that is to be done to it before.
    @discardableResult
    public func remove(
        _ id: some ServiceIDConvertible, _ query: Query = Query(), route: [String: String] = [:]
    ) async throws -> QueuedWrite<JSONValue> {
        try await add(Outbox.Draft(method: .remove, recordID: id.serviceID, query: query, route: route))
    }

    /// Calls a custom method.
    /// - Parameters:
    ///   - method: the method's name; one of Feathers' own is refused with ``FeathersError/Code/badRequest``.
    ///   - data: what the method is given.
    ///   - record: the record whose writes it is sent among; nil for no particular order. It is not sent.
    ///   - query: goes with the call.
    ///   - route: values for the `:placeholders` of the service's path.
    @discardableResult
    public func call(
        _ method: ServiceMethod, with data: JSONValue = .null, amongWritesOf record: ServiceID? = nil, _ query: Query = Query(),
        route: [String: String] = [:]
    ) async throws -> QueuedWrite<JSONValue> {
        guard method.isCustom else {
            throw FeathersError(
                .badRequest, "'\(method)' is no custom method: use '\(method)(…)' in place of 'call(\"\(method)\")'", execution: .neverSent)
        }
        return try await add(Outbox.Draft(method: method, data: data, query: query, route: route, neighbour: record))
    }

    private func add(_ draft: Outbox.Draft) async throws -> QueuedWrite<JSONValue> {
        guard let outbox = service.app.outbox else {
            throw FeathersError(.notImplemented, "The app has no outbox: give it one with useOutbox(_:)", execution: .neverSent)
        }
        return try await outbox.add(draft, path: service.path)
    }
}

extension Service {
    /// The service's writes through the app's outbox.
    public nonisolated var outbox: OutboxService { OutboxService(service: self) }
}
