import FeathersJSON

/// Finds the services of an OpenAPI document, as feathers-swagger writes it.
struct OpenAPIReader {
    private let root: Schema
    private let library: SchemaLibrary
    private var warnings: [SchemaWarning] = []

    static func describes(_ json: JSONValue) -> Bool {
        json["paths"]?.object != nil || json["openapi"] != nil || json["swagger"] != nil
    }

    init(_ source: SchemaSource, _ library: SchemaLibrary) {
        root = Schema(json: source.json, place: SchemaPlace(source: source.name, pointer: ""))
        self.library = library
    }

    /// The operations of one service.
    private struct Operations {
        var id: String?
        var collection: Schema?
        var record: Schema?
    }

    /// Returns the services in the order of their paths, and the problems of the document.
    mutating func services() -> (services: [ServiceSchemas], warnings: [SchemaWarning]) {
        var (found, order) = ([String: Operations](), [String]())
        guard let paths = root["paths"], let keys = paths.json.object?.keys else {
            return ([], [SchemaWarning(place: root.place, message: "the document has no paths")])
        }
        let all = Set(keys)
        for key in keys {
            guard let item = paths[key], item.json.object != nil, !isMethod(key, all, item) else { continue }
            var steps = key.split(separator: "/").map(String.init)
            let parameter = steps.last.flatMap(Self.parameter)
            if parameter != nil { steps.removeLast() }
            let path = steps.map { step in Self.parameter(step).map { ":" + $0 } ?? step }.joined(separator: "/")
            guard !path.isEmpty else { continue }
            if found[path] == nil { order.append(path) }
            if let parameter {
                found[path, default: Operations()].id = parameter
                found[path, default: Operations()].record = item
            } else {
                found[path, default: Operations()].collection = item
            }
        }
        let services = order.sorted().compactMap { path in found[path].flatMap { service(path, $0) } }
        return (services, warnings)
    }

    /// Returns the name of a parameter, written as `{id}` or, in some documents, as `:id`.
    private static func parameter(_ step: String) -> String? {
        if step.hasPrefix("{"), step.hasSuffix("}") { return String(step.dropFirst().dropLast()) }
        return step.hasPrefix(":") ? String(step.dropFirst()) : nil
    }

    /// Whether a path is a custom method of a service: `/messages/{id}/archive`, which has no records to read.
    private func isMethod(_ key: String, _ all: Set<String>, _ item: Schema) -> Bool {
        let steps = key.split(separator: "/").map(String.init)
        guard let last = steps.last, Self.parameter(last) == nil, item["get"] == nil else { return false }
        let record = "/" + steps.dropLast().joined(separator: "/")
        return steps.count > 1 && (all.contains(record) || item["get"] == nil && all.contains(record + "/{id}"))
    }

    private mutating func service(_ path: String, _ operations: Operations) -> ServiceSchemas? {
        let (collection, record) = (operations.collection, operations.record)
        // Signing in has a path, but no records.
        if path == "authentication" || path.hasSuffix("/authentication"), collection?["get"] == nil { return nil }
        let answers = [record?["get"], collection?["post"], record?["patch"], record?["put"]].compactMap(\.self)
        let written = answers.compactMap(response).first { library.resolved($0) != nil } ?? listed(collection?["get"])
        guard let model = written.flatMap({ library.resolved($0) }) ?? component(last(path)) else {
            for schema in answers.compactMap(response) { warnUnresolved(schema) }
            let place = (collection ?? record ?? root).place
            warnings.append(
                SchemaWarning(
                    place: place, message: "service '\(path)' is left out: no schema says what its records are"))
            return nil
        }
        let names = [model.place.pointer.contains("/paths/") ? nil : model.place.lastName, last(path)].compactMap(
            \.self)
        return ServiceSchemas(
            path: path, id: operations.id, model: model,
            data: resolved(collection?["post"].flatMap(body)) ?? component(names, "Data"),
            patch: resolved(record?["patch"].flatMap(body)) ?? component(names, "Patch"),
            query: query(collection?["get"]) ?? component(names, "Query"))
    }

    private func last(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    private func component(_ names: [String], _ suffix: String) -> Schema? {
        names.lazy.compactMap { component($0 + suffix) }.first
    }

    private func component(_ name: String) -> Schema? {
        (root["components", "schemas", name] ?? root["definitions", name]).flatMap(library.resolved)
    }

    private mutating func resolved(_ schema: Schema?) -> Schema? {
        guard let schema else { return nil }
        warnUnresolved(schema)
        return library.resolved(schema)
    }

    private mutating func warnUnresolved(_ schema: Schema) {
        guard let reference = schema.text("$ref"), library.resolved(schema) == nil else { return }
        warnings.append(SchemaWarning(place: schema.place.appending(["$ref"]), message: "'\(reference)' leads nowhere"))
    }

    /// Returns the schema of a successful response, in the form of OpenAPI 3 or, without `content`, of Swagger 2.
    private func response(_ operation: Schema) -> Schema? {
        guard let responses = operation["responses"], let codes = responses.json.object?.keys else { return nil }
        let successes = codes.filter { $0.hasPrefix("2") }.sorted() + codes.filter { $0 == "default" }
        return successes.lazy.compactMap { responses[$0] }.compactMap { $0["schema"] ?? content($0) }.first
    }

    private func content(_ message: Schema) -> Schema? {
        guard let message = library.resolved(message), let content = message["content"] else { return nil }
        let types = content.json.object?.keys ?? []
        return (content["application/json"] ?? types.first.flatMap { content[$0] })?["schema"]
    }

    private func body(_ operation: Schema) -> Schema? {
        if let body = operation["requestBody"] { return content(body) }
        return operation.list("parameters").first { $0.text("in") == "body" }?["schema"]
    }

    /// The records of a list or of a page.
    private func listed(_ operation: Schema?) -> Schema? {
        guard let operation, let answer = response(operation).flatMap(library.resolved) else { return nil }
        let list = answer["properties", "data"].flatMap(library.resolved) ?? answer
        return list["items"]
    }

    /// The parameter of `find` that is a whole query.
    private func query(_ operation: Schema?) -> Schema? {
        let parameters = (operation?.list("parameters") ?? []).compactMap(library.resolved)
        let schemas = parameters.filter { $0.text("in") == "query" && $0.text("name")?.hasPrefix("$") != true }
            .compactMap { $0["schema"] }
        return schemas.compactMap(library.resolved).first { schema in
            schema["properties"] != nil || !(schema.list("allOf") + schema.list("anyOf")).isEmpty
        }
    }
}
