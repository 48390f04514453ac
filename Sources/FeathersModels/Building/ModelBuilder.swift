import FeathersJSON

/// The schemas of one service, as a document describes them.
struct ServiceSchemas {
    /// The path, with parameters as Feathers writes them: `teams/:teamId/members`.
    var path: String
    /// The path's name for the id, if it has one.
    var id: String?
    var model: Schema
    var data: Schema?
    var patch: Schema?
    var query: Schema?
}

/// Creates Swift types from the schemas of services.
struct ModelBuilder {
    var reader: ShapeReader
    /// The names of the top-level types, by the places of their schemas.
    private var typeNames: [SchemaPlace: String] = [:]
    private var topLevel = NameSpace(SwiftNames.takenTypes)
    /// Names that are kept free for other schemas of the documents.
    private let reserved: Set<String>
    private var waiting: [(schema: Schema, name: String)] = []
    /// Types nested in the current service's types, so that its other types can reuse them.
    var reusable: [ReusableType: SwiftType] = [:]
    /// The elements of the lists and dictionaries that are being read.
    var containers: Set<Element> = []

    /// The names of a service's types.
    private struct TypeNames {
        var model: String
        var data = ""
        var patch = ""
    }

    /// Identifies an element by its text, because its place differs each time `allOf` joins a list with itself.
    struct Element: Hashable {
        var source: String
        var schema: JSONValue
    }

    struct ReusableType: Hashable {
        var name: String
        var schema: JSONValue
    }

    init(library: SchemaLibrary, reader: ShapeReader) {
        self.reader = reader
        reserved = Set(library.sources.flatMap(SchemaLibrary.definitions).map { SwiftNames.type($0.place.lastName) })
    }

    /// Returns the types of the services, and the other types that they refer to.
    mutating func build(_ services: [ServiceSchemas]) -> (services: [SwiftService], others: [SwiftDeclaration]) {
        var named: [(service: ServiceSchemas, names: TypeNames, object: ObjectShape)] = []
        // Names all models first, so that a schema that is one service's model and another's data is referred to as the
        // model.
        for service in services {
            guard let object = object(service.model) else {
                reader.warn(
                    service.model.place,
                    "service '\(service.path)' is left out: its records are not objects with known properties")
                continue
            }
            let name = modelName(service)
            claim(name, for: service.model)
            named.append((service, TypeNames(model: name), object))
        }
        for index in named.indices {
            let service = named[index].service
            named[index].names.data = claimData(service.data, named[index].names.model + "Data")
            named[index].names.patch = claimData(service.patch, named[index].names.model + "Patch")
        }
        var built: [SwiftService] = []
        var properties = NameSpace()
        for (service, names, object) in named {
            var swift = build(service, object, names)
            let steps = service.path.split(separator: "/").filter { !$0.hasPrefix(":") }.map(String.init)
            let candidates = [steps.last ?? service.path, steps.joined(separator: "-")].map(SwiftNames.property)
            swift.name = properties.take(candidates)
            built.append(swift)
        }
        addRelations(to: &built, named.map(\.object))
        var others: [SwiftDeclaration] = []
        while let next = waiting.popLast() {
            reusable = [:]
            if let declaration = declaration(of: next.schema, path: next.name) { others.append(declaration) }
        }
        return (built, others.sorted { $0.path < $1.path })
    }

    private mutating func claim(_ name: String, for schema: Schema) {
        if typeNames[schema.place] == nil { typeNames[schema.place] = name }
    }

    /// Returns the name of the type of a method's data. References to its schema use that type, unless the schema is a
    /// model or not an object.
    private mutating func claimData(_ schema: Schema?, _ derived: String) -> String {
        let name = topLevel.take([derived])
        if let schema, object(schema) != nil { claim(name, for: schema) }
        return name
    }

    /// Returns the name of a service's model: that of a single record of the service.
    private mutating func modelName(_ service: ServiceSchemas) -> String {
        let steps = service.path.split(separator: "/").filter { !$0.hasPrefix(":") }.map(String.init)
        let id = service.model.text("$id").map(SchemaPlace.stem).flatMap { SwiftNames.isIdentifier($0) ? $0 : nil }
        let last = SwiftNames.type(SwiftNames.singular(id ?? steps.last ?? service.path))
        let whole = SwiftNames.type(SwiftNames.singular(steps.joined(separator: "-")))
        let isUsable = { (name: String) in !name.isEmpty }
        return topLevel.take([last, last + "Record", whole, "Record"].filter(isUsable))
    }

    /// Returns the name of the top-level type for a schema that others refer to.
    mutating func typeName(of schema: Schema) -> String {
        if let name = typeNames[schema.place] { return name }
        let written = SwiftNames.type(schema.place.lastName)
        let base = written.isEmpty ? "Value" : written
        let name = topLevel.take([base, base + "Record", base + "Value"])
        claim(name, for: schema)
        waiting.append((schema, name))
        return name
    }

    /// Whether a nested type with this name would hide a top-level type.
    func isTakenInside(_ name: String) -> Bool { topLevel.contains(name) || reserved.contains(name) }

    // MARK: A service

    private mutating func build(_ service: ServiceSchemas, _ object: ObjectShape, _ names: TypeNames) -> SwiftService {
        reusable = [:]
        let keys = object.properties.map(\.name)
        let id = [service.id, "_id", "id"].compactMap(\.self).first(where: keys.contains) ?? service.id ?? "id"
        var model = structure(path: names.model, object, as: .model, comment: comment(of: service.model))
        var types: [SwiftDeclaration] = []

        let data = service.data.flatMap { $0.place == service.model.place ? nil : $0 }
        let create = dataType(data, of: object, id: id, as: .data, path: names.data, &types)
        let patchSchema = service.patch.flatMap {
            [service.model.place, service.data?.place].contains($0.place) ? nil : $0
        }
        let base = data.flatMap { self.object($0) } ?? object
        let patch = dataType(patchSchema, of: base, id: id, as: .patch, path: names.patch, &types)

        model.model = SwiftStructure.ModelFacts(
            createData: create, patchData: patch, id: model.properties.first { $0.key == id }?.name,
            queryKeys: service.query.flatMap { queryKeys($0, model) })
        return SwiftService(
            path: service.path,
            parameters: service.path.split(separator: "/").filter { $0.hasPrefix(":") }.map { String($0.dropFirst()) },
            name: "", id: id, model: names.model, types: [.structure(model)] + types)
    }

    /// Returns the type of a method's data: from its schema, or derived from another object.
    private mutating func dataType(
        _ schema: Schema?, of base: ObjectShape, id: String, as role: Role, path: String,
        _ types: inout [SwiftDeclaration]
    ) -> SwiftType {
        let what =
            role == .data
            ? "What the service's `create` takes." : "What the service's `patch` takes: only the properties to change."
        if let schema {
            guard let object = object(schema) else {
                var scope = Scope(path: "")
                let type = type(of: schema, suggested: path, in: &scope).type
                types += scope.nested
                for declaration in scope.nested { topLevel.insert(declaration.path) }
                return type
            }
            let comment = comment(of: schema)
            types.append(
                .structure(structure(path: path, object, as: role, comment: comment.isEmpty ? [what] : comment)))
        } else {
            var object = base
            if role == .patch {
                object.required = []
                object.properties.removeAll { $0.name == id }
            } else {
                object.required.remove(id)
            }
            types.append(.structure(structure(path: path, object, as: role, comment: [what])))
        }
        return .named(path)
    }

    /// Returns the object that a schema describes. For alternatives, returns one object with the properties of all
    /// objects among them, and ignores the rest: for example, the data of `create` may also be a list.
    private mutating func object(_ schema: Schema) -> ObjectShape? {
        switch reader.unnamed(reader.read(schema).shape) {
        case .object(let object): return object
        case .union(let union):
            let objects = union.alternatives.compactMap { alternative -> ObjectShape? in
                if case .object(let object) = reader.unnamed(alternative.reading.shape) { object } else { nil }
            }
            guard var whole = objects.first else { return nil }
            var places = Dictionary(whole.properties.enumerated().map { (ExactText($1.name), $0) }) { first, _ in first
            }
            for object in objects.dropFirst() {
                for (name, schema) in object.properties {
                    guard let index = places[ExactText(name)] else {
                        places[ExactText(name)] = whole.properties.count
                        whole.properties.append((name, schema))
                        continue
                    }
                    let first = whole.properties[index].schema
                    guard first.json != schema.json else { continue }
                    whole.properties[index].schema = Schema(
                        json: ["anyOf": [first.json, schema.json]], place: schema.place)
                }
                whole.required.formIntersection(object.required)
            }
            return whole
        default: return nil
        }
    }

    /// Returns the properties in a query's schema; nil if there are none, or if they are those of the model.
    private func queryKeys(_ schema: Schema, _ model: SwiftStructure) -> [(name: String, key: String)]? {
        let keys = keys(of: schema)
        guard !keys.isEmpty, Set(keys) != Set(model.properties.map(\.key)) else { return nil }
        var taken = NameSpace(SwiftNames.takenProperties.union(model.properties.map(\.name)))
        let names = Dictionary(model.properties.map { (ExactText($0.key), $0.name) }) { first, _ in first }
        return keys.map { key in
            if let name = names[ExactText(key)] { return (name, key) }
            return (taken.take([SwiftNames.property(key), SwiftNames.isIdentifier(key) ? key : "", "value"]), key)
        }
    }

    /// The properties that a query may name, without Feathers' own, which begin with a dollar sign.
    private func keys(of schema: Schema) -> [String] {
        var (keys, known) = ([String](), Set<ExactText>())
        // Schemas may refer to each other in chains of any length.
        var (waiting, visited) = ([schema], Set<SchemaPlace>())
        while let next = waiting.popLast() {
            guard let schema = reader.library.resolved(next), visited.insert(schema.place).inserted else { continue }
            for key in schema["properties"]?.json.object?.keys ?? []
            where !key.hasPrefix("$") && known.insert(ExactText(key)).inserted {
                keys.append(key)
            }
            waiting += ["allOf", "anyOf", "oneOf"].flatMap(schema.list).reversed()
        }
        return keys
    }

    /// The lines of a schema's description.
    func comment(of schema: Schema) -> [String] {
        (schema.text("description") ?? "").split(whereSeparator: \.isNewline).map { line in
            line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }.filter { !$0.isEmpty }
    }
}
