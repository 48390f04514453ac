public import FeathersCore
public import FeathersSupport

/// Query options of JSON:API that Feathers doesn't have. Names are property names; paths follow relationships.
extension Query where Model == JSONValue {
    /// Includes the targets of relationships in addition to those named earlier: `.including("author",
    /// "comments.author")`.
    ///
    /// Call it without paths to include no targets, even if the server sends some by default.
    public func including(_ paths: String...) -> Query<JSONValue> {
        setting("$include", .array((json["$include"]?.array ?? []) + paths.map(JSONValue.string)))
    }

    /// Includes the targets of relationships.
    public static func including(_ paths: String...) -> Query<JSONValue> {
        Query().setting("$include", .array(paths.map(JSONValue.string)))
    }

    /// Requests only these fields for resources of a type, given by its name in documents. An empty list requests no
    /// fields.
    ///
    /// To request fields of the service's own type, use `selecting`.
    public func fields(_ names: [String], of type: String) -> Query<JSONValue> {
        setting(type, .array(names.map(JSONValue.string)), in: "$fields")
    }

    /// Sets a parameter of the `page` family: `.page("after", cursor)` is `page[after]`.
    public func page(_ name: String, _ value: some QueryValue) -> Query<JSONValue> {
        setting(name, value.queryValue, in: "$page")
    }
    /// Requests the resources that follow a cursor (`page[after]`).
    public func after(_ cursor: String) -> Query<JSONValue> { page("after", cursor) }
    /// Requests the resources that precede a cursor (`page[before]`).
    public func before(_ cursor: String) -> Query<JSONValue> { page("before", cursor) }

    /// Sets a parameter by its full name, for example that of a filter: `.parameter("filter[from]", "2024")`.
    ///
    /// The name of a server's own parameter must contain a character other than a to z; see
    /// ``JSONAPIOptions/checksParameterNames``.
    public func parameter(_ name: String, _ value: String) -> Query<JSONValue> {
        setting(name, .string(value), in: "$parameters")
    }

    /// Requests the target of a link that the server sent, and ignores the rest of the query.
    ///
    /// The link must have the same origin as the transport's base URL, so that credentials are not sent elsewhere.
    static func link(_ url: String) -> Query<JSONValue> { Query().setting("$link", .string(url)) }

    private func setting(_ name: String, _ value: JSONValue, in group: String) -> Query<JSONValue> {
        var members = json[group]?.object ?? [:]
        members[name] = value
        return setting(group, .object(members))
    }
}

/// A query parameter of a URL, not yet encoded, such as `filter[name]` with the value `Ada`.
public struct JSONAPIQueryItem: Hashable, Sendable, SecretHiding {
    /// The parameter's full name, such as `filter[name]`.
    public var name: String
    /// The parameter's value.
    public var value: String

    /// Creates a parameter.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    public var description: String { "JSONAPIQueryItem(\(name))" }

    /// The encoded parameter. Commas in the value, which separate the elements of lists, are not encoded.
    var encoded: String {
        let value = value.split(separator: ",", omittingEmptySubsequences: false).map {
            percentEncoded(component: String($0))
        }
        return "\(percentEncoded(component: name))=\(value.joined(separator: ","))"
    }
}

struct QueryItems {
    let options: JSONAPIOptions
    let keys: KeyStyle

    /// Returns the query's parameters. `type` is the service's resource type, whose fields `$select` names.
    func items(of query: Query<JSONValue>, type: String) throws -> [JSONAPIQueryItem] {
        var items: [JSONAPIQueryItem] = []
        var conditions: JSONObject = [:]
        let json = query.json
        for (name, value) in json {
            switch name {
            case "$include":
                items.append(
                    JSONAPIQueryItem("include", try names(value, in: name).map(keys.wirePath).joined(separator: ",")))
            case "$select": items.append(try fields(value, of: type, in: name))
            case "$fields":
                for (type, names) in try object(value, name) {
                    items.append(try fields(names, of: type, in: "$fields.\(type)"))
                }
            case "$sort":
                let parts = try object(value, name).map {
                    (($0.value.number ?? 1) < 0 ? "-" : "") + keys.wirePath(of: $0.key)
                }
                if !parts.isEmpty { items.append(JSONAPIQueryItem("sort", parts.joined(separator: ","))) }
            case "$limit", "$skip":
                // `$limit` and `$skip` define one page together, which is written at the position of the first of them.
                if json.first(where: { $0.key == "$limit" || $0.key == "$skip" })?.key == name {
                    items += try options.pages.items(count("$limit", of: json), count("$skip", of: json))
                }
            case "$page":
                for (name, value) in try object(value, name) {
                    items.append(JSONAPIQueryItem("page[\(name)]", value.string ?? value.description))
                }
            case "$parameters":
                for (name, value) in try object(value, name) {
                    guard !options.checksParameterNames || MemberName.isAllowedParameter(name) else {
                        throw FeathersError.unsendableQuery(
                            "'\(name)' is not a valid parameter name; "
                                + "if the server requires it, set 'checksParameterNames' to false")
                    }
                    items.append(JSONAPIQueryItem(name, value.string ?? value.description))
                }
            default: conditions[name] = value
            }
        }
        if !conditions.isEmpty { items += try options.filters.items(JSONAPIFilter(json: conditions, keys: keys)) }
        return items
    }

    private func fields(_ value: JSONValue, of type: String, in name: String) throws(FeathersError) -> JSONAPIQueryItem
    {
        // Every resource has an id and a type; they are not fields.
        let names = try names(value, in: name).filter { $0 != "id" && $0 != "type" }.map(keys.wireName)
        return JSONAPIQueryItem("fields[\(type)]", names.joined(separator: ","))
    }

    private func names(_ value: JSONValue, in name: String) throws(FeathersError) -> [String] {
        let elements = value.array ?? [value]
        let names = elements.compactMap(\.string)
        guard names.count == elements.count else { throw .unsendableQuery("'\(name)' must be a list of names") }
        return names
    }

    private func object(_ value: JSONValue, _ name: String) throws(FeathersError) -> JSONObject {
        guard let object = value.object else { throw .unsendableQuery("'\(name)' must be an object") }
        return object
    }

    private func count(_ name: String, of json: JSONObject) throws(FeathersError) -> Int? {
        guard let value = json[name] else { return nil }
        guard let count = value.integer.flatMap({ Int(exactly: $0) }), count >= 0 else {
            throw .unsendableQuery("'\(name)' must be an integer that is not negative")
        }
        return count
    }
}

extension FeathersError {
    static func unsendableQuery(_ reason: String) -> FeathersError {
        FeathersError(.badRequest, "Query not sent: \(reason)", execution: .neverSent)
    }
}
