public import FeathersCore

extension Service {
    /// The service's writes through the app's outbox.
    public var outbox: OutboxCalls<Model> { OutboxCalls(service: self) }
}

/// A service's writes through the app's outbox. Each method returns once the write is on disk, connected or not.
///
/// `route` contains the values for the `:placeholders` of the service's path.
///
/// All methods throw ``FeathersError/Code/notImplemented`` if the app has no outbox, ``FeathersError/Code/badRequest``
/// if the data cannot be encoded as JSON, and a ``FeathersError`` naming the file if the disk does not accept the write
/// or the outbox is full. In each case, the write is not in the outbox.
///
/// ## Topics
///
/// ### Writes with a record's id
/// - ``remove(_:query:route:)-(ServiceIDConvertible,_,_)``
///
/// ### Writes with the data that the service takes
/// - ``patch(_:_:query:route:)``
/// - ``update(_:_:query:route:)``
///
/// ### Custom methods
/// - ``call(_:with:amongWritesOf:query:route:)``
public struct OutboxCalls<Model: Codable & Sendable>: Sendable {
    let service: Service<Model>

    /// Creates a record from a model or any other encodable value.
    ///
    /// Creations have no particular order, unless the record's id is known: see ``IdempotencyKeyPlace/recordID(_:)``.
    @discardableResult @_disfavoredOverload
    public func create(
        _ data: some Encodable & Sendable, query: Query<Model> = Query(), route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> {
        try await create(encode(data), query: query, route: route)
    }

    /// Creates a record from JSON.
    ///
    /// Creations have no particular order, unless the record's id is known: see ``IdempotencyKeyPlace/recordID(_:)``.
    @discardableResult @_disfavoredOverload
    public func create(
        _ data: JSONValue, query: Query<Model> = Query(), route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> {
        try await add(.create, nil, Model.self == JSONValue.self ? data : service.oneRecord(data), query, route)
    }

    /// Creates a record from a literal that may contain variables.
    ///
    /// Creations have no particular order, unless the record's id is known: see ``IdempotencyKeyPlace/recordID(_:)``.
    @discardableResult
    public func create(
        _ data: KeyValuePairs<String, any Encodable & Sendable>, query: Query<Model> = Query(),
        route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> {
        try await add(.create, nil, service.encoded(data, Params()), query, route)
    }

    /// Replaces a record, after the earlier writes to it.
    @discardableResult @_disfavoredOverload
    public func update(
        _ id: some ServiceIDConvertible, with data: some Encodable & Sendable, query: Query<Model> = Query(),
        route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> {
        try await update(id, with: encode(data), query: query, route: route)
    }

    /// Replaces a record with JSON, after the earlier writes to it.
    @discardableResult @_disfavoredOverload
    public func update(
        _ id: some ServiceIDConvertible, with data: JSONValue, query: Query<Model> = Query(),
        route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> {
        try await add(.update, id.serviceID, data, query, route)
    }

    /// Replaces a record with a literal that may contain variables, after the earlier writes to it.
    @discardableResult
    public func update(
        _ id: some ServiceIDConvertible, with data: KeyValuePairs<String, any Encodable & Sendable>,
        query: Query<Model> = Query(), route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> {
        try await add(.update, id.serviceID, service.encoded(data, Params()), query, route)
    }

    /// Merges the properties of a dictionary, or of any encodable value, into a record, after the earlier writes to it.
    @discardableResult @_disfavoredOverload
    public func patch(
        _ id: some ServiceIDConvertible, with data: some Encodable & Sendable, query: Query<Model> = Query(),
        route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> {
        try await patch(id, with: encode(data), query: query, route: route)
    }

    /// Merges JSON into a record, after the earlier writes to it.
    ///
    /// Null clears a property.
    @discardableResult @_disfavoredOverload
    public func patch(
        _ id: some ServiceIDConvertible, with data: JSONValue, query: Query<Model> = Query(),
        route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> {
        try await add(.patch, id.serviceID, data, query, route)
    }

    /// Merges a literal that may contain variables into a record, after the earlier writes to it.
    @discardableResult
    public func patch(
        _ id: some ServiceIDConvertible, with data: KeyValuePairs<String, any Encodable & Sendable>,
        query: Query<Model> = Query(), route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> {
        try await add(.patch, id.serviceID, service.encoded(data, Params()), query, route)
    }

    /// Removes a record, after the earlier writes to it.
    @discardableResult
    public func remove(
        _ id: some ServiceIDConvertible, query: Query<Model> = Query(), route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> {
        try await add(.remove, id.serviceID, nil, query, route)
    }

    /// Calls a custom method after the earlier writes to `record`, whose id is not sent.
    ///
    /// If `record` is nil, the call has no particular order.
    /// - Throws: ``FeathersError/Code/badRequest`` if the method is one of Feathers' own.
    @discardableResult
    public func call(
        _ method: ServiceMethod, with data: JSONValue = .null, amongWritesOf record: ServiceID? = nil,
        query: Query<Model> = Query(), route: [String: String] = [:]
    ) async throws -> QueuedWrite<JSONValue> {
        let request = try service.customRequest(method, data: data, query: query, params: Params())
        return try await add(
            Outbox.Draft(
                method: method, data: data, query: request.params.query, route: route, orderingKey: record))
    }

    private func encode(_ data: some Encodable) throws -> JSONValue { try service.encoded(data, Params()) }

    private func add(
        _ method: ServiceMethod, _ id: ServiceID?, _ data: JSONValue?, _ query: Query<Model>, _ route: [String: String]
    ) async throws -> QueuedWrite<Model> {
        let query = try query.written(for: service.codec(for: Params()))
        let write = try await add(
            Outbox.Draft(method: method, recordID: id, data: data, query: query, route: route))
        var typed = write.mapping { [service] in try service.decodeResult($0, of: method, Params()) }
        typed.hasNumericID = NumericID.isUsed(by: Model.self)
        return typed
    }

    private func add(_ draft: Outbox.Draft) async throws -> QueuedWrite<JSONValue> {
        try service.app.refuseToken(for: "A queued write")
        try service.app.requireOwnUser(for: "A queued write of service '\(service.path)'")
        return try await add(draft, as: service.app.resolvedIdentity())
    }

    func add(_ draft: Outbox.Draft, as identity: Identity?) async throws -> QueuedWrite<JSONValue> {
        let outbox = try service.app.requiredOutbox()
        var draft = draft
        if service.idProperty != "id" { draft.idProperty = service.idProperty }
        return try await outbox.addDraft(draft, path: service.path, as: identity)
    }
}

// The types are known, so `.init(text: "Hi")` is enough.
extension OutboxCalls where Model: ServiceModel {
    /// Creates a record from the data that its service takes.
    @discardableResult
    public func create(
        _ data: Model.CreateData, query: Query<Model> = Query(), route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> {
        try await create(encode(data), query: query, route: route)
    }

    /// Merges properties into a record, after the earlier writes to it.
    @discardableResult
    public func patch(
        _ id: some ServiceIDConvertible, _ data: Model.PatchData, query: Query<Model> = Query(),
        route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> {
        try await patch(id, with: encode(data), query: query, route: route)
    }

    /// Replaces a record, after the earlier writes to it.
    @discardableResult
    public func update(
        _ id: some ServiceIDConvertible, _ data: Model.CreateData, query: Query<Model> = Query(),
        route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> {
        try await update(id, with: encode(data), query: query, route: route)
    }
}
