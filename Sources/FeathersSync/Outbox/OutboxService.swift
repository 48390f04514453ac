public import FeathersCore

/// A service's writes through the app's outbox. Each method returns once the write is on disk, connected or not.
///
/// `route` contains the values for the `:placeholders` of the service's path.
///
/// All methods throw ``FeathersError/Code/notImplemented`` if the app has no outbox, ``FeathersError/Code/badRequest`` if the data cannot be encoded
/// as JSON, and a ``FeathersError`` naming the file if the disk does not accept the write or the outbox is full. In each case, the write is not in
/// the outbox.
public struct OutboxService: Sendable {
    let service: UntypedService

    /// Creates a record. Creations have no particular order, unless the record's id is known: see ``IdempotencyKeyPlace/recordID(_:)``.
    @discardableResult
    public func create(_ data: JSONValue, query: Query = Query(), route: [String: String] = [:]) async throws -> QueuedWrite<JSONValue> {
        try await add(Outbox.Draft(method: .create, data: data, query: query, route: route))
    }

    /// Replaces a record, after the earlier writes to it.
    @discardableResult
    public func update(
        _ id: some ServiceIDConvertible, with data: JSONValue, query: Query = Query(), route: [String: String] = [:]
    ) async throws -> QueuedWrite<JSONValue> {
        try await add(Outbox.Draft(method: .update, recordID: id.serviceID, data: data, query: query, route: route))
    }

    /// Merges data into a record, after the earlier writes to it.
    @discardableResult
    public func patch(
        _ id: some ServiceIDConvertible, with data: JSONValue, query: Query = Query(), route: [String: String] = [:]
    ) async throws -> QueuedWrite<JSONValue> {
        try await add(Outbox.Draft(method: .patch, recordID: id.serviceID, data: data, query: query, route: route))
    }

    /// Removes a record, after the earlier writes to it.
    @discardableResult
    public func remove(
        _ id: some ServiceIDConvertible, query: Query = Query(), route: [String: String] = [:]
    ) async throws -> QueuedWrite<JSONValue> {
        try await add(Outbox.Draft(method: .remove, recordID: id.serviceID, query: query, route: route))
    }

    /// Not available. Only the server knows which records match when the write is executed, so there is nothing to show until then.
    @available(*, unavailable, message: "A write to several records cannot be queued: queue a write for each record")
    public func patchAll(query: Query, with data: JSONValue) async throws -> QueuedWrite<JSONValue> {
        throw FeathersError(.badRequest, "A write to several records cannot be queued")
    }

    /// Not available, like ``patchAll(query:with:)``.
    @available(*, unavailable, message: "A write to several records cannot be queued: queue a write for each record")
    public func removeAll(query: Query) async throws -> QueuedWrite<JSONValue> {
        throw FeathersError(.badRequest, "A write to several records cannot be queued")
    }

    /// Calls a custom method after the earlier writes to `record`, whose id is not sent. If `record` is nil, the call has no particular order.
    /// - Throws: ``FeathersError/Code/badRequest`` if the method is one of Feathers' own.
    @discardableResult
    public func call(
        _ method: ServiceMethod, with data: JSONValue = .null, amongWritesOf record: ServiceID? = nil, query: Query = Query(),
        route: [String: String] = [:]
    ) async throws -> QueuedWrite<JSONValue> {
        guard method.isCustom else {
            throw FeathersError(
                .badRequest, "'\(method)' is not a custom method: use '\(method)(…)' instead of 'call'", execution: .neverSent)
        }
        return try await add(Outbox.Draft(method: method, data: data, query: query, route: route, orderingKey: record))
    }

    private func add(_ draft: Outbox.Draft) async throws -> QueuedWrite<JSONValue> {
        guard let outbox = service.app.outbox else {
            throw FeathersError(.notImplemented, "The app has no outbox: install one with 'use(outbox:)'", execution: .neverSent)
        }
        try service.app.refuseToken(for: "A queued write")
        var draft = draft
        if service.idProperty != "id" { draft.idProperty = service.idProperty }
        return try await outbox.add(draft, path: service.path, as: service.app.resolvedIdentity())
    }
}

/// A typed service's writes through the app's outbox; see ``OutboxService``.
public struct OutboxTypedService<Model: Codable & Sendable>: Sendable {
    let service: TypedService<Model>

    /// Creates a record from a model or any other encodable value.
    @discardableResult
    public func create(_ data: some Encodable, query: Query = Query(), route: [String: String] = [:]) async throws -> QueuedWrite<Model> {
        model(try await service.untyped.outbox.create(encode(data), query: query, route: route))
    }

    /// Replaces a record, after the earlier writes to it.
    @discardableResult
    public func update(
        _ id: some ServiceIDConvertible, with data: some Encodable, query: Query = Query(), route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> {
        model(try await service.untyped.outbox.update(id, with: encode(data), query: query, route: route))
    }

    /// Merges the properties of a dictionary, or of any encodable value, into a record, after the earlier writes to it.
    @discardableResult
    public func patch(
        _ id: some ServiceIDConvertible, with data: some Encodable, query: Query = Query(), route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> {
        model(try await service.untyped.outbox.patch(id, with: encode(data), query: query, route: route))
    }

    /// Merges JSON into a record, for patches with values of several types.
    @discardableResult
    public func patch(
        _ id: some ServiceIDConvertible, with data: JSONValue, query: Query = Query(), route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> { model(try await service.untyped.outbox.patch(id, with: data, query: query, route: route)) }

    /// Removes a record, after the earlier writes to it.
    @discardableResult
    public func remove(
        _ id: some ServiceIDConvertible, query: Query = Query(), route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> { model(try await service.untyped.outbox.remove(id, query: query, route: route)) }

    private func encode(_ data: some Encodable) throws -> JSONValue {
        try service.codec(for: Params()).encodeSent(data, to: service.path)
    }

    private func model(_ write: QueuedWrite<JSONValue>) -> QueuedWrite<Model> {
        let (service, method) = (service, write.write.method)
        return write.map { try service.decodeResult($0, of: method, Params()) }
    }
}

// The types are known, so `.init(text: "Hi")` is enough.
extension OutboxTypedService where Model: ServiceModel {
    /// Creates a record from the data that its service takes.
    @discardableResult
    public func create(_ data: Model.CreateData, query: Query = Query(), route: [String: String] = [:]) async throws -> QueuedWrite<Model> {
        model(try await service.untyped.outbox.create(encode(data), query: query, route: route))
    }

    /// Merges properties into a record, after the earlier writes to it.
    @discardableResult
    public func patch(
        _ id: some ServiceIDConvertible, _ data: Model.PatchData, query: Query = Query(), route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> {
        model(try await service.untyped.outbox.patch(id, with: encode(data), query: query, route: route))
    }

    /// Replaces a record, after the earlier writes to it.
    @discardableResult
    public func update(
        _ id: some ServiceIDConvertible, _ data: Model.CreateData, query: Query = Query(), route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> {
        model(try await service.untyped.outbox.update(id, with: encode(data), query: query, route: route))
    }
}

extension UntypedService {
    /// The service's writes through the app's outbox.
    public var outbox: OutboxService { OutboxService(service: self) }
}

extension TypedService {
    /// The service's writes through the app's outbox.
    public var outbox: OutboxTypedService<Model> { OutboxTypedService(service: self) }
}
