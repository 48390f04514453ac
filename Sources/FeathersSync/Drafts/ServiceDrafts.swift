public import FeathersCore

extension Service {
    /// Reads a record, and returns a copy to edit. Like every call with such an id, it waits for a record whose creation
    /// is queued: pass the record of the row instead.
    ///
    /// ```swift
    /// var draft = try await messages.draft(7)
    /// draft.text = "Hello"
    /// try await draft.save()
    /// ```
    /// - Parameters:
    ///   - id: The id of the record.
    ///   - params: The parameters of the read, and of the calls that save the draft.
    /// - Throws: The errors of ``get(_:query:params:)``.
    public func draft(
        _ id: some ServiceIDConvertible & Sendable, params: Params = Params()
    ) async throws -> Draft<Model> {
        var source = try await DraftSource(self, id.serviceID, params)
        let record = try await source.begin()
        return try Draft(source, record.model, tag: record.tag)
    }
}

extension Service where Model: Identifiable, Model.ID: ServiceIDConvertible {
    /// Returns a copy of a known record to edit, such as one in a list. Nothing is read until the draft is saved, so
    /// this works without a connection.
    /// - Parameters:
    ///   - record: The record as the server has reported it.
    ///   - params: The parameters of the calls that save the draft.
    /// - Throws: ``FeathersError/Code/badRequest`` if the record has no id yet or cannot be encoded.
    public func draft(_ record: Model, params: Params = Params()) async throws -> Draft<Model> {
        try Draft(try await DraftSource(self, record.id.serviceID, params), record, tag: nil)
    }
}
