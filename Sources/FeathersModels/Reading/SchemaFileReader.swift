import FeathersJSON

/// Finds services in JSON Schema files: a file is a service, with the schemas of its data beside it or in its `$defs`.
struct SchemaFileReader {
    private static let suffixes = ["Data", "Patch", "Query", "List", "Pagination", "Result"]

    let sources: [SchemaSource]

    /// Returns the services in the order of their paths.
    ///
    /// The path is that of the file, without the folder that contains all files: `api/messages.json` is the service
    /// `api/messages`.
    func services() -> [ServiceSchemas] {
        let all = sources.flatMap(SchemaLibrary.definitions)
        var named: [String: Schema] = [:]
        for schema in all {
            for name in Self.names(of: schema) where named[Self.plain(name)] == nil { named[Self.plain(name)] = schema }
        }
        let files = sources.map { Schema(json: $0.json, place: SchemaPlace(source: $0.name, pointer: "")) }
        return files.compactMap { file -> ServiceSchemas? in
            let names = Self.names(of: file)
            let isPart = names.contains { name in
                Self.suffixes.contains { suffix in
                    let plain = Self.plain(name)
                    return plain.hasSuffix(suffix.lowercased()) && named[String(plain.dropLast(suffix.count))] != nil
                }
            }
            // If the file itself isn't a schema, it may contain one with the file's name.
            let own =
                ShapeReader.isStructural(file)
                ? file : names.lazy.compactMap { named[Self.plain($0)] }.first { $0.place != file.place }
            guard !isPart, let model = own ?? Self.only(in: file) else { return nil }
            let bases = names + Self.names(of: model)
            func part(_ suffix: String) -> Schema? { bases.lazy.compactMap { named[Self.plain($0 + suffix)] }.first }
            return ServiceSchemas(
                path: Self.path(file.place.source), id: nil, model: model, data: part("Data"), patch: part("Patch"),
                query: part("Query"))
        }.sorted { $0.path < $1.path }
    }

    private static func only(in file: Schema) -> Schema? {
        let source = SchemaSource(name: file.place.source, json: file.json)
        return SchemaLibrary.definitions(in: source).dropFirst().first { schema in
            !suffixes.contains { schema.place.lastName.hasSuffix($0) }
        }
    }

    private static func names(of schema: Schema) -> [String] {
        [schema.place.lastName, schema.text("$id").map(SchemaPlace.stem)].compactMap(\.self)
    }

    /// Returns a form of a name in which `message-data`, `message.data`, and `MessageData` are equal.
    private static func plain(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }

    private static func path(_ file: String) -> String {
        var path = file
        while path.hasPrefix("./") { path.removeFirst(2) }
        for ending in [".json", ".schema"] where path.hasSuffix(ending) { path.removeLast(ending.count) }
        return path
    }
}
