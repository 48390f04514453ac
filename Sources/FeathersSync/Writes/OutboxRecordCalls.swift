public import FeathersCore

// Writes that take a record instead of its id.
extension OutboxCalls where Model: Identifiable, Model.ID: ServiceIDConvertible {
    /// Replaces a record with a modified copy, after the earlier writes to it.
    /// - Throws: ``FeathersError/Code/badRequest`` also if the record has no id yet.
    @discardableResult
    public func update(_ record: Model, query: Query<Model> = Query(), route: [String: String] = [:]) async throws
        -> QueuedWrite<Model>
    {
        try await update(record.id.serviceID, with: record, query: query, route: route)
    }

    /// Merges the properties of a dictionary, or of any encodable value, into a record, after the earlier writes to it.
    /// - Throws: ``FeathersError/Code/badRequest`` also if the record has no id yet.
    @discardableResult @_disfavoredOverload
    public func patch(
        _ record: Model, with data: some Encodable & Sendable, query: Query<Model> = Query(),
        route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> {
        try await patch(record.id.serviceID, with: data, query: query, route: route)
    }

    /// Merges a literal that may contain variables into a record, after the earlier writes to it.
    /// - Throws: ``FeathersError/Code/badRequest`` also if the record has no id yet.
    @discardableResult
    public func patch(
        _ record: Model, with data: KeyValuePairs<String, any Encodable & Sendable>, query: Query<Model> = Query(),
        route: [String: String] = [:]
    ) async throws -> QueuedWrite<Model> {
        try await patch(record.id.serviceID, with: data, query: query, route: route)
    }

    /// Removes a record, after the earlier writes to it.
    /// - Throws: ``FeathersError/Code/badRequest`` also if the record has no id yet.
    @discardableResult
    public func remove(_ record: Model, query: Query<Model> = Query(), route: [String: String] = [:]) async throws
        -> QueuedWrite<Model>
    {
        try await remove(record.id.serviceID, query: query, route: route)
    }
}
