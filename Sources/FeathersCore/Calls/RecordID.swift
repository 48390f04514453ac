extension JSONValue {
    /// The id of a record, from its property `id`.
    ///
    /// ```swift
    /// let todo = try await todos.create(["text": "Write a tour"])
    /// try await todos.remove(todo.id)
    /// ```
    ///
    /// For records whose id has another name, use `id(named:)` or the service's `id(of:)`.
    /// - Throws: ``FeathersError`` that names the property if it is missing, or neither a string nor a number.
    public var id: ServiceID {
        get throws(FeathersError) { try self.id(named: "id") }
    }

    /// Returns the id of a record from the given property: `record.id(named: "_id")`.
    /// - Parameter property: The name of the property that holds the id.
    /// - Throws: ``FeathersError`` that names the property if it is missing, or neither a string nor a number.
    public func id(named property: String) throws(FeathersError) -> ServiceID {
        guard let object else { throw FeathersError(.generalError, "A record must be an object to have an id") }
        return try object.id(named: property)
    }
}

extension JSONObject {
    /// The id of a record, from its property `id`.
    /// - Throws: ``FeathersError`` that names the property if it is missing, or neither a string nor a number.
    public var id: ServiceID {
        get throws(FeathersError) { try self.id(named: "id") }
    }

    /// Returns the id of a record from the given property.
    /// - Parameter property: The name of the property that holds the id.
    /// - Throws: ``FeathersError`` that names the property if it is missing, or neither a string nor a number.
    public func id(named property: String) throws(FeathersError) -> ServiceID {
        let value = self[property]
        if let value, let id = ServiceID(value) { return id }
        let reason = value == nil ? "is missing" : "is neither a string nor a number"
        let hint = property == "id" && self["_id"] != nil ? "; for '_id', use id(named: \"_id\")" : ""
        throw FeathersError(.generalError, "The record has no id: '\(property)' \(reason)\(hint)")
    }
}

extension Service where Model == JSONValue {
    /// Returns the id of one of this service's records.
    ///
    /// For a ``MemoryService``, the property comes from its option `id`; for any other service, from its
    /// ``ServiceDefinition``. By default, it is `id`.
    /// - Parameter record: A record in the form that the service returned.
    /// - Throws: ``FeathersError`` that names the property if it is missing, or neither a string nor a number.
    public func id(of record: JSONValue) async throws(FeathersError) -> ServiceID {
        let memory = await registered.implementation.actor as? MemoryService
        return try record.id(named: memory?.memoryOptions.id ?? idProperty)
    }
}
