extension Query {
    /// Adds the condition that at least one of `queries` matches (`$or`).
    ///
    /// A second group does not replace the first: both must match, so it goes into `$and`.
    public func any(of queries: [Query]) -> Query {
        var query = self
        let alternatives = JSONValue.array(queries.map { .object($0.json) })
        if query.json["$or"] == nil {
            query.json["$or"] = alternatives
        } else {
            query.require(["$or": alternatives])
        }
        return query
    }

    /// Adds the condition that each of `queries` matches (`$and`).
    ///
    /// FeathersJS takes `$and` at the top level only, unless the service lists it among its operators.
    public func all(of queries: [Query]) -> Query {
        var query = self
        if queries.isEmpty, query.json["$and"] == nil { query.json["$and"] = [] }
        for element in queries { query.require(element.json) }
        return query
    }
}
