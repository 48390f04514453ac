// Methods that take records instead of ids.

extension TypedService where Model: Identifiable, Model.ID: ServiceIDConvertible {
    /// Replaces a record with a modified copy.
    ///
    /// ```swift
    /// message.text = "Hello"
    /// message = try await messages.update(message)
    /// ```
    /// - Throws: ``FeathersError/Code/badRequest``, before anything is sent, if the record has no id yet.
    @concurrent @discardableResult
    public func update(_ record: Model, query: Query = Query(), params: Params = Params()) async throws -> Model {
        try await update(record.id.serviceID, with: record, query: query, params: params)
    }

    /// Merges the properties of a dictionary, or of any encodable value, into a record.
    /// - Throws: ``FeathersError/Code/badRequest``, before anything is sent, if the record has no id yet.
    @concurrent @discardableResult
    public func patch(
        _ record: Model, with data: some Encodable & Sendable, query: Query = Query(), params: Params = Params()
    ) async throws -> Model {
        try await patch(record.id.serviceID, with: data, query: query, params: params)
    }

    /// Merges JSON into a record. Null clears a property.
    /// - Throws: ``FeathersError/Code/badRequest``, before anything is sent, if the record has no id yet.
    @concurrent @discardableResult
    public func patch(_ record: Model, with data: JSONValue, query: Query = Query(), params: Params = Params()) async throws -> Model {
        try await patch(record.id.serviceID, with: data, query: query, params: params)
    }

    /// Removes a record.
    /// - Throws: ``FeathersError/Code/badRequest``, before anything is sent, if the record has no id yet.
    @concurrent @discardableResult
    public func remove(_ record: Model, query: Query = Query(), params: Params = Params()) async throws -> Model {
        try await remove(record.id.serviceID, query: query, params: params)
    }
}
