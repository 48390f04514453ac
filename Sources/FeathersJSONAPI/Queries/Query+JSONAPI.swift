public import FeathersCore

/// What JSON:API asks for beyond Feathers. Names are those of properties; paths lead through relationships.
extension Query {
    /// Asks for the targets of relationships to come along: `.including("author", "comments.author")`; adds to those named before.
    ///
    /// Without any path it asks for none, where a server sends some by itself.
    public func including(_ paths: String...) -> Query {
        setting("$include", .array((json["$include"]?.array ?? []) + paths.map(JSONValue.string)))
    }

    /// Asks for the targets of relationships to come along.
    public static func including(_ paths: String...) -> Query {
        paths.reduce(Query().setting("$include", .array([]))) { $0.including($1) }
    }

    /// Asks for these fields alone of resources of a type, by the type's name in documents; none for an empty list.
    ///
    /// Fields of the service's own type are asked for with `selecting`.
    public func fields(_ names: [String], of type: String) -> Query {
        var fields = json["$fields"]?.object ?? [:]
        fields[type] = .array(names.map(JSONValue.string))
        return setting("$fields", .object(fields))
    }

    /// Sets a parameter of the `page` family: `.page("after", cursor)` is `page[after]`.
    public func page(_ name: String, _ value: some QueryValue) -> Query {
        var page = json["$page"]?.object ?? [:]
        page[name] = value.queryValue
        return setting("$page", .object(page))
    }

    /// Sets any parameter by its whole name, also one of a filter: `.parameter("filter[from]", "2024")`.
    ///
    /// The name of one of the server's own must hold another character than a to z, see ``JSONAPIOptions/checksParameterNames``.
    public func parameter(_ name: String, _ value: String) -> Query {
        var parameters = json["$parameters"]?.object ?? [:]
        parameters[name] = .string(value)
        return setting("$parameters", .object(parameters))
    }

    /// Asks for what a link of the server's leads to, in place of everything else a query says.
    ///
    /// The link must stay within the origin of the transport's base URL, or credentials would leave it.
    static func link(_ url: String) -> Query {
        Query().setting("$link", .string(url))
    }
}
