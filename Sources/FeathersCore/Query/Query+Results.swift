extension Query {
    /// Asks for at most `count` records (`$limit`). A service's maximum wins; 0 asks for the total alone.
    public func limit(_ count: Int) -> Query {
        setting("$limit", count)
    }

    /// Leaves out the first `count` records (`$skip`).
    public func skip(_ count: Int) -> Query {
        setting("$skip", count)
    }

    /// Sorts by a property (`$sort`); sorting again sorts what the properties before left equal.
    ///
    /// A property named twice keeps its place and takes the later direction.
    public func sorted(by property: String, _ direction: SortDirection = .ascending) -> Query {
        var query = self
        var sort = json["$sort"]?.object ?? [:]
        sort[property] = .integer(direction.rawValue)
        query.json["$sort"] = .object(sort)
        return query
    }

    /// Asks for these properties of each record instead of all (`$select`); adds to those named before.
    ///
    /// A service answers with the id as well.
    public func selecting(_ properties: String...) -> Query {
        selecting(properties)
    }

    /// Asks for these properties of each record instead of all (`$select`); adds to those named before.
    public func selecting(_ properties: [String]) -> Query {
        var query = self
        var selected = json["$select"].map { $0.array ?? [$0] } ?? []
        for property in properties where !selected.contains(.string(property)) {
            selected.append(.string(property))
        }
        query.json["$select"] = .array(selected)
        return query
    }

    /// Sets a key of the query as it is, for what a service understands beyond Feathers: `.setting("$populate", "user")`.
    ///
    /// Replaces the value the key had.
    public func setting(_ key: String, _ value: some QueryValue) -> Query {
        setting(key, value.queryValue)
    }

    /// Sets a key of the query as it is, for JSON literals.
    public func setting(_ key: String, _ value: JSONValue) -> Query {
        var query = self
        query.json[key] = value
        return query
    }

    /// The direction of sorting, with the number Feathers writes for it.
    public enum SortDirection: Int64, Sendable {
        case ascending = 1
        case descending = -1
    }
}
