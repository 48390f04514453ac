import FeathersCore

/// Turns a query into the parameters of a URL.
struct QueryItems {
    let options: JSONAPIOptions
    let keys: KeyStyle

    /// - Parameter type: the service's type of resource, whose fields `$select` means.
    func items(of query: Query, type: String) throws -> [JSONAPIQueryItem] {
        var items: [JSONAPIQueryItem] = []
        var conditions: JSONObject = [:]
        let json = query.json
        for (name, value) in json {
            switch name {
            case "$include": items.append(JSONAPIQueryItem("include", try names(value, in: name).map(keys.wirePath).joined(separator: ",")))
            case "$select": items.append(try fields(value, of: type, in: name))
            case "$fields":
                for (type, names) in try object(value, name) { items.append(try fields(names, of: type, in: "$fields.\(type)")) }
            case "$sort":
                let parts = try object(value, name).map {
                    ($0.value.number ?? 1) < 0 ? "-\(keys.wirePath(of: $0.key))" : keys.wirePath(of: $0.key)
                }
                if !parts.isEmpty { items.append(JSONAPIQueryItem("sort", parts.joined(separator: ","))) }
            case "$limit", "$skip":
                // Both are one page; whichever stands first writes it.
                if json.first(where: { $0.key == "$limit" || $0.key == "$skip" })?.key == name {
                    items += try options.pages.items(count("$limit", of: json), count("$skip", of: json))
                }
            case "$page":
                for (name, value) in try object(value, name) {
                    items.append(JSONAPIQueryItem("page[\(name)]", value.string ?? value.description))
                }
            case "$parameters":
                for (name, value) in try object(value, name) {
                    guard !options.checksParameterNames || ParameterName.isAllowed(name) else {
                        throw Self.refusal(
                            "'\(name)' is no name a parameter may have; where the server wants it, see 'checksParameterNames'")
                    }
                    items.append(JSONAPIQueryItem(name, value.string ?? value.description))
                }
            default: conditions[name] = value
            }
        }
        if !conditions.isEmpty { items += try options.filters.items(JSONAPIFilter(json: conditions, keys: keys)) }
        return items
    }

    private func fields(_ value: JSONValue, of type: String, in name: String) throws(FeathersError) -> JSONAPIQueryItem {
        // Every resource has its id, which is no field.
        let names = try names(value, in: name).filter { $0 != "id" && $0 != "type" }.map(keys.wireName)
        return JSONAPIQueryItem("fields[\(type)]", names.joined(separator: ","))
    }

    private func names(_ value: JSONValue, in name: String) throws(FeathersError) -> [String] {
        let elements = value.array ?? [value]
        let names = elements.compactMap(\.string)
        guard names.count == elements.count else { throw Self.refusal("'\(name)' must be a list of names") }
        return names
    }

    private func object(_ value: JSONValue, _ name: String) throws(FeathersError) -> JSONObject {
        guard let object = value.object else { throw Self.refusal("'\(name)' must be an object") }
        return object
    }

    private func count(_ name: String, of json: JSONObject) throws(FeathersError) -> Int? {
        guard let value = json[name] else { return nil }
        guard let count = value.integer.flatMap({ Int(exactly: $0) }), count >= 0 else {
            throw Self.refusal("'\(name)' must be an integer that is not negative")
        }
        return count
    }

    private static func refusal(_ reason: String) -> FeathersError {
        FeathersError(.badRequest, "Query not sent: \(reason)", execution: .neverSent)
    }
}
