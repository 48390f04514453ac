import FeathersCore

extension CacheKey {
    /// The key of a read; nil where it has none, since its query holds what JSON cannot express.
    /// - Parameters:
    ///   - headers: the names of header fields the answer depends on, in lower case.
    ///   - partitions: the server and the user whose answer it is, under names of their own.
    init?(of context: HookContext, group: String, headers: Set<String>, partitions: [String]) {
        let params = context.params
        var text = CacheKeyText()
        do throws(JSONSerializationError) {
            try text.append(list: partitions)
            try text.append(context.method.rawValue)
            try text.append(context.path)
            if let id = context.id { try text.append(id.json) } else { try text.append(JSONValue.null) }
            try text.append(params.route.isEmpty ? JSONObject() : JSONObject(sorted: params.route.map { ($0.key, .string($0.value)) }))
            try text.append(params.query.json.canonical)
            try text.append(Self.fields(of: params.headers, named: headers))
        } catch {
            return nil
        }
        self.init(text: text.finished(), group: group)
    }

    /// The header fields an answer depends on. Credentials are told apart by their digests, so that no key gives them away.
    private static func fields(of headers: [String: String], named names: Set<String>) -> JSONObject {
        if headers.isEmpty { return JSONObject() }
        return JSONObject(
            sorted: headers.compactMap { name, value in
                let name = name.lowercased()
                if name == "authorization" || name == "cookie" { return (name, .string(SHA256.hex(value.utf8))) }
                return names.contains(name) ? (name, .string(value)) : nil
            })
    }
}

extension JSONObject {
    /// An object with its keys in the order of their bytes; of a repeated key the value that comes last in that order counts.
    fileprivate init(sorted entries: [(key: String, value: JSONValue)]) {
        self.init(minimumCapacity: entries.count)
        for (key, value) in entries.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) { self[key] = value }
    }

    /// The same query with its keys in the order of their bytes at every depth, but for those of `$sort`, whose order is what it means.
    fileprivate var canonical: JSONObject {
        isEmpty ? self : JSONObject(sorted: map { key, value in (key, key == "$sort" ? value : value.canonical) })
    }
}

extension JSONValue {
    fileprivate var canonical: JSONValue {
        switch self {
        case .object(let object): .object(object.canonical)
        case .array(let array): .array(array.map(\.canonical))
        default: self
        }
    }
}
