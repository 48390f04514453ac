extension JSONValue {
    /// The id of a record, in its property `id`.
    ///
    /// ```swift
    /// let todo = try await todos.create(["text": "Write a tour"])
    /// try await todos.remove(todo.id)
    /// ```
    ///
    /// For records whose id has another name, use `id(named:)`, or `id(of:)` of the service.
    /// - Throws: ``FeathersError`` naming the property if it is missing, or neither a string nor a number.
    public var id: ServiceID {
        get throws(FeathersError) { try self.id(named: "id") }
    }

    /// The id of a record, in a property that you name: `record.id(named: "_id")`.
    /// - Parameter property: The name of the property that holds the id.
    /// - Throws: ``FeathersError`` naming the property if it is missing, or neither a string nor a number.
    public func id(named property: String) throws(FeathersError) -> ServiceID {
        guard let object else { throw FeathersError(.generalError, "A record must be an object to have an id") }
        return try object.id(named: property)
    }
}

extension JSONObject {
    /// The id of a record, in its property `id`.
    /// - Throws: ``FeathersError`` naming the property if it is missing, or neither a string nor a number.
    public var id: ServiceID {
        get throws(FeathersError) { try self.id(named: "id") }
    }

    /// The id of a record, in a property that you name.
    /// - Parameter property: The name of the property that holds the id.
    /// - Throws: ``FeathersError`` naming the property if it is missing, or neither a string nor a number.
    public func id(named property: String) throws(FeathersError) -> ServiceID {
        let value = self[property]
        if let value, let id = ServiceID(value) { return id }
        let reason = value == nil ? "is missing" : "is neither a string nor a number"
        let hint = property == "id" && self["_id"] != nil ? "; for '_id', use id(named: \"_id\")" : ""
        throw FeathersError(.generalError, "The record has no id: '\(property)' \(reason)\(hint)")
    }
}

extension UntypedService {
    /// The id of one of this service's records.
    ///
    /// A ``MemoryService`` knows the property from its option `id`. For any other service, it is `id`.
    /// - Parameter record: A record as the service returned it.
    /// - Throws: ``FeathersError`` naming the property if it is missing, or neither a string nor a number.
    public func id(of record: JSONValue) async throws(FeathersError) -> ServiceID {
        let memory = await actor.implementation as? MemoryService
        return try record.id(named: memory?.options.id ?? "id")
    }
}
