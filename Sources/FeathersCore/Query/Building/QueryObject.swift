// A query in Feathers' notation, as an object: how conditions are added without losing one.

extension JSONObject {
    /// Adds a condition in its raw form to those on the property.
    mutating func addCondition(_ condition: JSONValue, on property: String) {
        guard let present = self[property] else {
            self[property] = condition
            return
        }
        if condition == present { return }
        guard var operators = present.operators, let added = condition.operators,
            added.allSatisfy({ operators[$0.key] == nil })
        else {
            return require([property: condition])
        }
        for (name, value) in added { operators[name] = value }
        self[property] = .object(operators)
    }

    /// Adds conditions to `$and`.
    mutating func require(_ conditions: JSONObject) { addToGroup(.object(conditions)) }

    private mutating func addToGroup(_ condition: JSONValue) {
        var elements: [JSONValue] = []
        if let present = self["$and"] {
            // A raw `$and` that is not a list is sent unchanged, so that the server rejects it.
            elements = present.array ?? [["$and": present]]
        }
        elements.append(condition)
        self["$and"] = .array(elements)
    }

    /// Adds the condition that each of `queries` matches (`$and`).
    mutating func requireEach(of queries: [JSONObject]) {
        if queries.isEmpty, self["$and"] == nil { self["$and"] = [] }
        for query in queries { require(query) }
    }

    /// Adds the condition that at least one of `queries` matches (`$or`).
    mutating func addAlternatives(_ queries: [JSONObject]) {
        let alternatives = JSONValue.array(queries.map { .object($0.withoutGroup) })
        if self["$or"] == nil { self["$or"] = alternatives } else { require(["$or": alternatives]) }
    }

    /// The same conditions with those of `$and` beside the others, as far as one object can express them.
    private var withoutGroup: JSONObject {
        guard let group = self["$and"]?.array, !group.isEmpty, group.allSatisfy({ $0.object != nil }) else {
            return self
        }
        var query = self
        query["$and"] = nil
        for case .object(let conditions) in group {
            for (key, condition) in conditions { query.addCondition(condition, on: key) }
        }
        return query
    }

    mutating func setSort(by property: String, _ direction: SortDirection) {
        var sort = self["$sort"]?.object ?? JSONObject()
        sort[property] = .integer(direction.rawValue)
        self["$sort"] = .object(sort)
    }

    mutating func setSelect(_ properties: [String]) {
        var selected = self["$select"].map { $0.array ?? [$0] } ?? []
        for property in properties where !selected.contains(.string(property)) { selected.append(.string(property)) }
        self["$select"] = .array(selected)
    }

    /// Combines the conditions of both queries. `other` wins for `$limit`, `$skip`, `$sort` and `$select`. Conditions
    /// that share no object go into `$and`.
    fileprivate mutating func join(_ other: JSONObject) {
        for (key, value) in other {
            switch key {
            case "$limit", "$skip", "$sort", "$select": self[key] = value
            case "$and" where self[key] != nil && value.array != nil:
                // What is no object is kept too, so that the server rejects it.
                if self[key] != value { for condition in value.array ?? [] { addToGroup(condition) } }
            default: addCondition(value, on: key)
            }
        }
    }
}

extension JSONValue {
    /// The value if it is an object such as `{$gt: 1, $lt: 3}`, to which more operators can be added; nil otherwise.
    fileprivate var operators: JSONObject? {
        guard let object, !object.isEmpty, object.allSatisfy({ $0.key.hasPrefix("$") }) else { return nil }
        return object
    }
}

extension Query where Model == JSONValue {
    /// Combines the conditions of both queries. `other` wins for `$limit`, `$skip`, `$sort` and `$select`.
    package func joined(with other: Query) -> Query {
        if isEmpty { return other }
        var joined = self
        joined.json.join(other.json)
        return joined
    }
}

extension Params {
    /// Returns the params with the conditions of another query added.
    package func joining(_ query: Query<JSONValue>) -> Params {
        if query.isEmpty { return self }
        var params = self
        params.query = params.query.joined(with: query)
        return params
    }

    /// Returns the params without the query, for a caller that sends it by other means.
    package var withoutQuery: Params {
        if query.isEmpty { return self }
        var params = self
        params.query = Query()
        return params
    }
}
