extension Query {
    /// Adds a condition on a property, named by its path: `"address.city"` looks inside.
    ///
    /// Operators on one property are merged into one object, `{n: {$gt: 1, $lt: 3}}`. What that object cannot hold, an
    /// operator used twice or equality next to operators, goes into `$and`: no condition replaces another.
    public func `where`(_ property: String, _ condition: Condition) -> Query {
        var query = self
        query.add(condition, on: property)
        return query
    }

    /// Adds the condition that a property equals `value`.
    public func `where`(_ property: String, _ value: some QueryValue) -> Query {
        self.where(property, .equals(value))
    }

    /// Adds the condition that a property equals `value`, for JSON literals such as `nil`.
    public func `where`(_ property: String, _ value: JSONValue) -> Query {
        self.where(property, .equals(value))
    }

    private mutating func add(_ condition: Condition, on property: String) {
        guard let present = json[property] else {
            json[property] = condition.json
            return
        }
        if let `operator` = condition.operator, var operators = present.object, operators.holdsOperatorsOnly,
            operators[`operator`] == nil
        {
            operators[`operator`] = condition.value
            json[property] = .object(operators)
        } else {
            require([property: condition.json])
        }
    }

    /// Adds an element to `$and`.
    mutating func require(_ conditions: JSONObject) {
        var elements: [JSONValue] = []
        if let present = json["$and"] {
            // A raw `$and` that is no list is wrong, but it is the server that should say so.
            elements = present.array ?? [["$and": present]]
        }
        elements.append(.object(conditions))
        json["$and"] = .array(elements)
    }
}

extension Query.Condition {
    /// The condition as the value of its property.
    fileprivate var json: JSONValue {
        guard let `operator` else { return value }
        return .object([`operator`: value])
    }
}

extension JSONObject {
    /// Whether this is an object such as `{$gt: 1, $lt: 3}`, to which an operator can be added.
    fileprivate var holdsOperatorsOnly: Bool {
        !isEmpty && allSatisfy { $0.key.hasPrefix("$") }
    }
}
