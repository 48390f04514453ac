// Calls that write, and custom methods. Data comes in three forms. A model or another encodable value is encoded by the
// codec. JSON is sent as it is. A literal may contain variables: `["text": text, "age": age]`; `KeyValuePairs` keeps
// the order of its keys. The others are disfavored, so that every dictionary literal takes the last form if it can.

extension Service {
    /// Creates a record from a model or another encodable value.
    /// - Returns: The record as the service stored it, with its id.
    @concurrent @discardableResult @_disfavoredOverload
    public func create(
        _ data: some Encodable & Sendable, query: Query<Model> = Query(), params: Params = Params()
    ) async throws -> Model {
        try await sendWrite(.create, data: oneRecord(encoded(data, params)), query, params)
    }

    /// Creates a record from JSON.
    /// - Returns: The record as the service stored it, with its id.
    @concurrent @discardableResult @_disfavoredOverload
    public func create(
        _ data: JSONValue, query: Query<Model> = Query(), params: Params = Params()
    ) async throws -> Model {
        try await sendWrite(.create, data: oneRecord(data), query, params)
    }

    /// Creates a record from a literal that may contain variables: `create(["name": name, "age": age])`.
    /// - Returns: The record as the service stored it, with its id.
    @concurrent @discardableResult
    public func create(
        _ data: KeyValuePairs<String, any Encodable & Sendable>, query: Query<Model> = Query(),
        params: Params = Params()
    ) async throws -> Model {
        try await sendWrite(.create, data: encoded(data, params), query, params)
    }

    /// Creates several records in one call.
    /// - Returns: The records as the service stored them.
    /// - Throws: ``FeathersError/Code/methodNotAllowed`` if the service creates only one record at a time.
    @concurrent @discardableResult @_disfavoredOverload
    public func create(
        contentsOf data: [some Encodable & Sendable], query: Query<Model> = Query(), params: Params = Params()
    ) async throws -> [Model] {
        try await create(contentsOf: data.map { try encoded($0, params) }, query: query, params: params)
    }

    /// Creates several records from JSON in one call.
    /// - Returns: The records as the service stored them.
    /// - Throws: ``FeathersError/Code/methodNotAllowed`` if the service creates only one record at a time.
    @concurrent @discardableResult
    public func create(
        contentsOf data: [JSONValue], query: Query<Model> = Query(), params: Params = Params()
    ) async throws -> [Model] {
        let request = try makeRequest(.create, data: .array(data), query: query, params: params)
        return try decodePage(await executeCall(request), of: .create, params).data
    }

    /// Replaces a record.
    ///
    /// Properties missing from `data` are removed; use `patch` to keep them.
    ///
    /// If the response contains no record, as with a status of 204, the record is read with `get`.
    /// - Throws: ``FeathersError/Code/notFound`` if the record does not exist or does not match the query.
    @concurrent @discardableResult @_disfavoredOverload
    public func update(
        _ id: some ServiceIDConvertible & Sendable, with data: some Encodable & Sendable, query: Query<Model> = Query(),
        params: Params = Params()
    ) async throws -> Model {
        try await sendWrite(.update, id: id.serviceID, data: encoded(data, params), query, params)
    }

    /// Replaces a record with JSON.
    ///
    /// Properties missing from `data` are removed; use `patch` to keep them.
    /// - Throws: ``FeathersError/Code/notFound`` if the record does not exist or does not match the query.
    @concurrent @discardableResult @_disfavoredOverload
    public func update(
        _ id: some ServiceIDConvertible & Sendable, with data: JSONValue, query: Query<Model> = Query(),
        params: Params = Params()
    ) async throws -> Model {
        try await sendWrite(.update, id: id.serviceID, data: data, query, params)
    }

    /// Replaces a record with a literal that may contain variables.
    /// - Throws: ``FeathersError/Code/notFound`` if the record does not exist or does not match the query.
    @concurrent @discardableResult
    public func update(
        _ id: some ServiceIDConvertible & Sendable, with data: KeyValuePairs<String, any Encodable & Sendable>,
        query: Query<Model> = Query(), params: Params = Params()
    ) async throws -> Model {
        try await sendWrite(.update, id: id.serviceID, data: encoded(data, params), query, params)
    }

    /// Merges the properties of a dictionary, or of any encodable value, into a record.
    ///
    /// If the response contains no record, as with a status of 204, the record is read with `get`.
    /// - Throws: ``FeathersError/Code/notFound`` if the record does not exist or does not match the query.
    @concurrent @discardableResult @_disfavoredOverload
    public func patch(
        _ id: some ServiceIDConvertible & Sendable, with data: some Encodable & Sendable, query: Query<Model> = Query(),
        params: Params = Params()
    ) async throws -> Model {
        try await sendWrite(.patch, id: id.serviceID, data: encoded(data, params), query, params)
    }

    /// Merges JSON into a record.
    ///
    /// Null clears a property.
    /// - Throws: ``FeathersError/Code/notFound`` if the record does not exist or does not match the query.
    @concurrent @discardableResult @_disfavoredOverload
    public func patch(
        _ id: some ServiceIDConvertible & Sendable, with data: JSONValue, query: Query<Model> = Query(),
        params: Params = Params()
    ) async throws -> Model {
        try await sendWrite(.patch, id: id.serviceID, data: data, query, params)
    }

    /// Merges a literal that may contain variables into a record.
    /// - Throws: ``FeathersError/Code/notFound`` if the record does not exist or does not match the query.
    @concurrent @discardableResult
    public func patch(
        _ id: some ServiceIDConvertible & Sendable, with data: KeyValuePairs<String, any Encodable & Sendable>,
        query: Query<Model> = Query(), params: Params = Params()
    ) async throws -> Model {
        try await sendWrite(.patch, id: id.serviceID, data: encoded(data, params), query, params)
    }

    /// Merges data into every record that matches a query.
    ///
    /// If the query and `params.query` are empty, every record matches.
    /// - Returns: The changed records.
    /// - Throws: ``FeathersError/Code/methodNotAllowed`` if the service changes only one record at a time.
    @concurrent @discardableResult @_disfavoredOverload
    public func patchAll(
        query: Query<Model>, with data: some Encodable & Sendable, params: Params = Params()
    ) async throws -> [Model] {
        try await writeAll(.patch, encoded(data, params), query, params)
    }

    /// Merges JSON into every record that matches a query.
    ///
    /// Null clears a property.
    /// - Returns: The changed records.
    /// - Throws: ``FeathersError/Code/methodNotAllowed`` if the service changes only one record at a time.
    @concurrent @discardableResult @_disfavoredOverload
    public func patchAll(
        query: Query<Model>, with data: JSONValue, params: Params = Params()
    ) async throws -> [Model] {
        try await writeAll(.patch, data, query, params)
    }

    /// Merges a literal that may contain variables into every record that matches a query.
    /// - Returns: The changed records.
    /// - Throws: ``FeathersError/Code/methodNotAllowed`` if the service changes only one record at a time.
    @concurrent @discardableResult
    public func patchAll(
        query: Query<Model>, with data: KeyValuePairs<String, any Encodable & Sendable>, params: Params = Params()
    ) async throws -> [Model] {
        try await writeAll(.patch, encoded(data, params), query, params)
    }

    /// Removes a record.
    /// - Returns: The removed record; nil if the server removed it but returned no record, as with a status of 204.
    /// - Throws: ``FeathersError/Code/notFound`` if the record does not exist or does not match the query.
    @concurrent @discardableResult
    public func remove(
        _ id: some ServiceIDConvertible & Sendable, query: Query<Model> = Query(), params: Params = Params()
    ) async throws -> Model? {
        let response = try await executeCall(makeRequest(.remove, id: id.serviceID, query: query, params: params))
        // JSON decodes null, and so does an optional model.
        if Model.self == JSONValue.self, response.result.isNull { return nil }
        do {
            return try decode(response, .remove, params)
        } catch {
            guard response.result.isNull else { throw error }
            return nil
        }
    }

    /// Removes every record that matches a query.
    ///
    /// If the query and `params.query` are empty, every record matches.
    /// - Returns: The removed records.
    /// - Throws: ``FeathersError/Code/methodNotAllowed`` if the service removes only one record at a time.
    @concurrent @discardableResult
    public func removeAll(query: Query<Model>, params: Params = Params()) async throws -> [Model] {
        try await writeAll(.remove, nil, query, params)
    }

    private func sendWrite(
        _ method: ServiceMethod, id: ServiceID? = nil, data: JSONValue? = nil, _ query: Query<Model>, _ params: Params
    ) async throws -> Model {
        let request = try makeRequest(method, id: id, data: data, query: query, params: params)
        let response = try await executeCall(request)
        do {
            return try decode(response, method, params)
        } catch {
            guard let id, response.result.isNull else { throw error }
            return try await written(id, by: request)
        }
    }

    /// Reads a record that was changed by a call whose response contains no record.
    private func written(_ id: ServiceID, by call: ServiceRequest) async throws -> Model {
        // The record may no longer match the conditions of the call.
        var query = Query<JSONValue>()
        query.json["$select"] = call.params.query.json["$select"]
        var params = call.params.withoutQuery
        params.readsFromServer = true
        do {
            let request = try json.makeRequest(.get, id: id, query: query, params: params)
            return try decode(await executeCall(request), .get, params)
        } catch let error as FeathersError {
            throw FeathersError(
                .generalError,
                "'\(call.method)' on service '\(path)' was executed, but its response contains no record, and the "
                    + "record could not be read: \(error.message)",
                cause: error)
        }
    }

    private func writeAll(
        _ method: ServiceMethod, _ data: JSONValue?, _ query: Query<Model>, _ params: Params
    ) async throws -> [Model] {
        let request = try makeRequest(method, data: data, query: query, params: params)
        return try decodePage(await executeCall(request), of: method, params).data
    }

    /// Throws an error for a list if one record is expected, before anything is sent.
    package func oneRecord(_ data: JSONValue) throws(FeathersError) -> JSONValue {
        guard data.array == nil else {
            throw .refused("'create' of service '\(path)' takes one record. To create several, use create(contentsOf:)")
        }
        return data
    }
}

extension Service {
    /// Calls a custom method with JSON, or without data.
    ///
    /// ```swift
    /// try await messages.call("archive")
    /// let report = try await messages.call(
    ///     "report", with: ["year": 2026], returning: Report.self)
    /// ```
    /// - Parameters:
    ///   - method: The name of the method.
    ///   - data: The payload.
    ///   - type: The type to decode the result into.
    ///   - query: The query, which joins that of the params.
    ///   - params: The other parameters.
    /// - Throws: ``FeathersError/Code/badRequest`` for one of Feathers' six methods,
    ///   ``FeathersError/Code/methodNotAllowed`` for an unknown method.
    @concurrent @discardableResult @_disfavoredOverload
    public func call<Result: Decodable & Sendable>(
        _ method: ServiceMethod, with data: JSONValue = .null, returning type: Result.Type = JSONValue.self,
        query: Query<Model> = Query(), params: Params = Params()
    ) async throws -> Result {
        let request = try customRequest(method, data: data, query: query, params: params)
        return try decode(await executeCall(request), method, as: type, params)
    }

    /// Calls a custom method with an encodable value; see ``call(_:with:returning:query:params:)-(_,JSONValue,_,_,_)``.
    @concurrent @discardableResult @_disfavoredOverload
    public func call<Result: Decodable & Sendable>(
        _ method: ServiceMethod, with data: some Encodable & Sendable, returning type: Result.Type = JSONValue.self,
        query: Query<Model> = Query(), params: Params = Params()
    ) async throws -> Result {
        try await call(method, with: encoded(data, params), returning: type, query: query, params: params)
    }

    /// Calls a custom method with a literal that may contain variables; see
    /// ``call(_:with:returning:query:params:)-(_,JSONValue,_,_,_)``.
    @concurrent @discardableResult
    public func call<Result: Decodable & Sendable>(
        _ method: ServiceMethod, with data: KeyValuePairs<String, any Encodable & Sendable>,
        returning type: Result.Type = JSONValue.self, query: Query<Model> = Query(), params: Params = Params()
    ) async throws -> Result {
        try await call(method, with: encoded(data, params), returning: type, query: query, params: params)
    }
}

// Calls that take a record instead of its id.
extension Service where Model: Identifiable, Model.ID: ServiceIDConvertible {
    /// Replaces a record with a modified copy.
    ///
    /// ```swift
    /// message.text = "Hello"
    /// message = try await messages.update(message)
    /// ```
    /// - Throws: ``FeathersError/Code/badRequest``, before anything is sent, if the record has no id yet.
    @concurrent @discardableResult
    public func update(
        _ record: Model, query: Query<Model> = Query(), params: Params = Params()
    ) async throws -> Model {
        try await update(record.id.serviceID, with: record, query: query, params: params)
    }

    /// Merges the properties of any encodable value into a record.
    /// - Throws: ``FeathersError/Code/badRequest``, before anything is sent, if the record has no id yet.
    @concurrent @discardableResult @_disfavoredOverload
    public func patch(
        _ record: Model, with data: some Encodable & Sendable, query: Query<Model> = Query(), params: Params = Params()
    ) async throws -> Model {
        try await patch(record.id.serviceID, with: data, query: query, params: params)
    }

    /// Merges a literal that may contain variables into a record.
    /// - Throws: ``FeathersError/Code/badRequest``, before anything is sent, if the record has no id yet.
    @concurrent @discardableResult
    public func patch(
        _ record: Model, with data: KeyValuePairs<String, any Encodable & Sendable>, query: Query<Model> = Query(),
        params: Params = Params()
    ) async throws -> Model {
        try await patch(record.id.serviceID, with: data, query: query, params: params)
    }

    /// Removes a record.
    /// - Returns: The removed record; nil if the server removed it but returned no record.
    /// - Throws: ``FeathersError/Code/badRequest``, before anything is sent, if the record has no id yet.
    @concurrent @discardableResult
    public func remove(
        _ record: Model, query: Query<Model> = Query(), params: Params = Params()
    ) async throws -> Model? {
        try await remove(record.id.serviceID, query: query, params: params)
    }
}
