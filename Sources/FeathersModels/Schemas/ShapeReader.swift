import FeathersJSON

/// Reads schemas as shapes: follows references, joins `allOf`, and recognizes nullable schemas.
struct ShapeReader {
    let library: SchemaLibrary
    private(set) var warnings: [SchemaWarning] = []
    private var knownWarnings: Set<SchemaWarning> = []
    private var known: [SchemaPlace: Reading] = [:]
    /// Whether unions are read as any value. Otherwise, telling a union's alternatives apart could read the union
    /// again.
    private(set) var isPeeking = false
    private static let deepest = 24

    init(library: SchemaLibrary) { self.library = library }

    mutating func warn(_ place: SchemaPlace, _ message: String) {
        let warning = SchemaWarning(place: place, message: message)
        if knownWarnings.insert(warning).inserted { warnings.append(warning) }
    }

    mutating func read(_ schema: Schema, depth: Int = 0) -> Reading {
        guard depth < Self.deepest else {
            warn(schema.place, "the schema refers to itself without end")
            return Reading(shape: .any("the schema refers to itself without end"), isEndless: true)
        }
        guard schema.json.object != nil else {
            if schema.json.bool == nil { warn(schema.place, "not a schema") }
            return Reading(shape: .any("the schema allows any value"))
        }
        var reading = readKeywords(schema, depth + 1)
        if Self.isMarkedNullable(schema) { reading.isNullable = true }
        return reading
    }

    private mutating func readKeywords(_ schema: Schema, _ depth: Int) -> Reading {
        if schema.text("$ref") != nil { return readReference(schema, depth) }
        if !schema.list("allOf").isEmpty { return readAll(schema, depth) }
        for key in ["anyOf", "oneOf"] {
            let alternatives = schema.list(key)
            guard !alternatives.isEmpty else { continue }
            let base = schema.without(key)
            // Alternatives that only list required properties say nothing about types.
            if alternatives.allSatisfy({ !Self.isStructural($0) }), Self.isStructural(base) {
                return read(base, depth: depth)
            }
            return readAlternatives(alternatives, of: base, depth)
        }
        if let constant = schema.json["const"] { return Self.values([constant]) }
        if let values = schema.json["enum"]?.array, !values.isEmpty {
            return Self.numbers(values, schema) ?? Self.values(values)
        }
        return readType(schema, depth)
    }

    /// Follows references in a loop, because a chain of references may have any length.
    private mutating func readReference(_ schema: Schema, _ depth: Int) -> Reading {
        var (links, visited) = ([Schema](), Set<SchemaPlace>())
        var (target, found) = (schema, Reading?.none)
        while found == nil, let reference = target.text("$ref") {
            guard let next = library.target(of: reference, in: target.place.source) else {
                warn(target.place.appending(["$ref"]), "'\(reference)' leads nowhere")
                return Reading(shape: .any("its reference '\(reference)' leads nowhere"))
            }
            guard visited.insert(next.place).inserted else {
                warn(next.place, "the schema refers to itself without end")
                return Reading(shape: .any("the schema refers to itself without end"), isEndless: true)
            }
            (target, found) = (next, known[next.place])
            links.append(next)
        }
        var reading = found ?? read(target, depth: depth)
        if isPeeking, found == nil, case .any = reading.shape { return reading }
        switch reading.shape {
        case .object, .enumeration, .numbers, .union: reading.shape = .named(target)
        default: break
        }
        for link in links.reversed() {
            reading.isNullable = reading.isNullable || Self.isMarkedNullable(link)
            known[link.place] = reading
        }
        return reading
    }

    private static func isMarkedNullable(_ schema: Schema) -> Bool {
        schema.json["nullable"]?.bool == true || schema.json["x-nullable"]?.bool == true
    }

    /// Returns the shape that a name stands for.
    mutating func unnamed(_ shape: Shape) -> Shape {
        if case .named(let schema) = shape { read(schema).shape } else { shape }
    }

    /// Returns the reading of an alternative's property, with its name resolved. A union is read as any value.
    mutating func peek(at schema: Schema) -> Reading {
        isPeeking = true
        defer { isPeeking = false }
        var reading = read(schema)
        reading.shape = unnamed(reading.shape)
        return reading
    }

    // MARK: allOf

    private mutating func readAll(_ schema: Schema, _ depth: Int) -> Reading {
        let base = schema.without("allOf")
        let parts = (schema.list("allOf") + [base]).filter(Self.isPart)
        let structural = parts.filter(Self.isStructural)
        var isOnlyNullable = false
        if let only = structural.first, structural.count == 1 {
            let reading = read(only, depth: depth)
            isOnlyNullable = reading.isNullable
            let required = parts.filter { !Self.isStructural($0) }.reduce(into: Set()) {
                $0.formUnion(Self.object($1).required)
            }
            // Nothing changes unless more properties of an object with known properties become required.
            guard !required.isEmpty, case .object(let object) = unnamed(reading.shape),
                !required.isSubset(of: object.required)
            else {
                return reading
            }
        }
        var (flat, visited) = ([Schema](), Set([schema.place]))
        for part in parts { flatten(part, into: &flat, &visited) }
        let typed = flat.filter(Self.isStructural)
        let unions = flat.filter { !($0.list("anyOf") + $0.list("oneOf")).isEmpty }
        let objects = flat.filter { part in
            (Self.isObject(part) || !Self.isStructural(part)) && !unions.contains { $0.place == part.place }
        }
        let isNullable = isOnlyNullable || !typed.isEmpty && typed.allSatisfy { $0.json["nullable"]?.bool == true }
        guard flat.count == unions.count + objects.count else {
            guard !typed.contains(where: Self.isObject), unions.isEmpty, let joined = Self.joined(typed) else {
                return Reading(shape: .any("`allOf` joins schemas that no Swift type joins"))
            }
            return read(joined, depth: depth)
        }
        if let union = unions.first {
            guard unions.count == 1 else { return Reading(shape: .any("`allOf` joins several lists of alternatives")) }
            let alternatives = (union.list("anyOf") + union.list("oneOf")).map { alternative in
                let rest = union.without("anyOf", "oneOf")
                let parts = (objects + (Self.isPart(rest) ? [rest] : []) + [alternative]).map(\.json)
                return Schema(json: ["allOf": .array(parts)], place: alternative.place)
            }
            return readAlternatives(alternatives, of: base, depth)
        }
        let whole = Self.joined(objects.map(Self.object))
        if whole.properties.isEmpty { return Reading(shape: .dictionary(nil), isNullable: isNullable) }
        return Reading(shape: .object(whole), isNullable: isNullable)
    }

    /// Collects the parts of an `allOf`. Follows references, and flattens inner `allOf`s.
    private mutating func flatten(_ schema: Schema, into parts: inout [Schema], _ visited: inout Set<SchemaPlace>) {
        // Not recursive, because references may lead from one `allOf` to the next without limit.
        var waiting = [(schema: schema, isOpened: false)]
        while let (next, isOpened) = waiting.popLast() {
            if isOpened {
                parts.append(next)
            } else if let reference = next.text("$ref") {
                guard let target = library.target(of: reference, in: next.place.source) else {
                    warn(next.place.appending(["$ref"]), "'\(reference)' leads nowhere")
                    continue
                }
                if visited.insert(target.place).inserted { waiting.append((target, false)) }
            } else {
                let base = next.without("allOf")
                if Self.isPart(base) { waiting.append((base, true)) }
                waiting += next.list("allOf").reversed().map { ($0, false) }
            }
        }
    }

    /// Returns one object with the properties of several.
    private static func joined(_ objects: [ObjectShape]) -> ObjectShape {
        var (whole, places) = (ObjectShape(), [ExactText: Int]())
        for object in objects {
            for (name, schema) in object.properties {
                if let index = places[ExactText(name)] {
                    let first = whole.properties[index].schema
                    guard first.json != schema.json else { continue }
                    whole.properties[index].schema = Schema(
                        json: ["allOf": [first.json, schema.json]], place: schema.place)
                } else {
                    places[ExactText(name)] = whole.properties.count
                    whole.properties.append((name, schema))
                }
            }
            whole.required.formUnion(object.required)
            whole.isOpen = whole.isOpen || object.isOpen
        }
        return whole
    }

    /// Returns one schema with the keywords of several; nil if they are of different types.
    private static func joined(_ schemas: [Schema]) -> Schema? {
        guard let first = schemas.first, Set(schemas.compactMap { $0.json["type"] }).count <= 1 else { return nil }
        var joined = JSONObject()
        for (key, value) in schemas.flatMap({ $0.json.object.map(Array.init) ?? [] }) { joined[key] = value }
        return Schema(json: .object(joined), place: first.place)
    }

    // MARK: Keywords

    private static let structural: Set<String> = [
        "type", "properties", "enum", "const", "items", "anyOf", "oneOf", "allOf", "additionalProperties",
        "patternProperties", "format",
        "$ref", "prefixItems",
    ]

    /// Whether a schema says more than which properties are required, and more than that it is an object.
    static func isStructural(_ schema: Schema) -> Bool {
        let keys = schema.json.object?.keys.filter { structural.contains($0) } ?? []
        if keys == ["type"], schema.text("type") == "object" { return false }
        return !keys.isEmpty || !schema.list("required").isEmpty && schema.json["properties"] != nil
    }

    /// Whether a schema contributes anything to an `allOf`, even if it only lists required properties.
    private static func isPart(_ schema: Schema) -> Bool { isStructural(schema) || !schema.list("required").isEmpty }

    private static func isObject(_ schema: Schema) -> Bool {
        schema.text("type") == "object" || schema.json["properties"] != nil
            || schema.json["additionalProperties"] != nil
    }

    static func object(_ schema: Schema) -> ObjectShape {
        let properties = schema["properties"]
        let names = properties?.json.object?.keys ?? []
        let further = schema.json["additionalProperties"]
        return ObjectShape(
            properties: names.compactMap { name in properties?[name].map { (name, $0) } },
            required: Set((schema.json["required"]?.array ?? []).compactMap(\.string)),
            isOpen: further?.bool == true || further?.object != nil || schema.json["patternProperties"] != nil)
    }

    /// The shape of values that are listed one by one.
    static func values(_ all: [JSONValue]) -> Reading {
        let values = all.filter { !$0.isNull }
        let isNullable = values.count < all.count
        let strings = values.compactMap(\.string)
        let list = values.prefix(12).map(\.description).joined(separator: ", ") + (values.count > 12 ? ", …" : "")
        let note = values.count == 1 ? "Always \(list)." : "One of \(list)."
        if values.isEmpty { return Reading(shape: .null, isNullable: true) }
        if strings.count == values.count {
            var seen = Set<String>()
            return Reading(shape: .enumeration(strings.filter { seen.insert($0).inserted }), isNullable: isNullable)
        }
        if values.allSatisfy({ $0.bool != nil }) {
            return Reading(shape: .scalar(.bool), isNullable: isNullable, note: values.count == 1 ? note : nil)
        }
        if values.allSatisfy({ $0.integer != nil }) {
            return Reading(shape: .scalar(.int), isNullable: isNullable, note: note)
        }
        if values.allSatisfy({ $0.number != nil }) {
            return Reading(shape: .scalar(.double), isNullable: isNullable, note: note)
        }
        return Reading(shape: .any("its values are of different types"), isNullable: isNullable, note: note)
    }

    /// The shape of whole numbers with names, as OpenAPI's tools write them; nil if the names are missing or do not
    /// match.
    private static func numbers(_ all: [JSONValue], _ schema: Schema) -> Reading? {
        let written = ["x-enum-varnames", "x-enumNames"].compactMap { schema.json[$0]?.array }.first
        guard let names = written?.compactMap(\.string), names.count == all.count else { return nil }
        var seen = Set<Int64>()
        var numbers: [Shape.NamedNumber] = []
        for (name, json) in zip(names, all) where !json.isNull {
            guard let value = json.integer else { return nil }
            if seen.insert(value).inserted { numbers.append(Shape.NamedNumber(name: name, value: value)) }
        }
        guard !numbers.isEmpty else { return nil }
        return Reading(shape: .numbers(numbers), isNullable: all.contains(where: \.isNull))
    }

    // MARK: type

    private mutating func readType(_ schema: Schema, _ depth: Int) -> Reading {
        let written = schema.json["type"]
        let all = written?.array?.compactMap(\.string) ?? written?.string.map { [$0] } ?? Self.inferredTypes(schema)
        var types = all.filter { $0 != "null" }
        if Set(types) == ["integer", "number"] { types = ["number"] }
        let isNullable = all.contains("null")
        guard let type = types.first else {
            return Reading(shape: isNullable ? .null : .any("the schema allows any value"), isNullable: isNullable)
        }
        if types.count > 1 {
            let alternatives = types.map { type in
                var json = schema.json
                json["type"] = .string(type)
                return Schema(json: json, place: schema.place)
            }
            var reading = readAlternatives(alternatives, of: Schema(json: [:], place: schema.place), depth)
            reading.isNullable = reading.isNullable || isNullable
            return reading
        }
        var reading = read(type: type, schema)
        reading.isNullable = isNullable
        return reading
    }

    private static func inferredTypes(_ schema: Schema) -> [String] {
        guard let object = schema.json.object else { return [] }
        if object["instanceOf"]?.string == "Date" { return ["Date"] }
        let kinds: [(String, [String])] = [
            ("object", ["properties", "additionalProperties", "patternProperties"]),
            ("array", ["items", "prefixItems"]),
            ("string", ["pattern", "minLength", "maxLength", "format"]),
            ("number", ["minimum", "maximum", "multipleOf"]),
        ]
        return kinds.first { $0.1.contains { object[$0] != nil } }.map { [$0.0] } ?? []
    }

    private mutating func read(type: String, _ schema: Schema) -> Reading {
        if schema.text("instanceOf") == "Date" { return Reading(shape: .scalar(.date)) }
        switch type {
        case "string": return Self.string(schema)
        case "integer", "int":
            return Reading(shape: .scalar(["int32": .int32, "int64": .int64][schema.text("format") ?? ""] ?? .int))
        case "number":
            let formats: [String: Shape.Scalar] = ["float": .float, "int32": .int32, "int64": .int64, "integer": .int]
            return Reading(shape: .scalar(formats[schema.text("format") ?? ""] ?? .double))
        case "boolean", "bool": return Reading(shape: .scalar(.bool))
        case "Date", "date": return Reading(shape: .scalar(.date))
        case "ObjectId", "ObjectID", "objectid": return Reading(shape: .scalar(.string))
        case "file": return Reading(shape: .scalar(.data))
        case "bigint": return Reading(shape: .scalar(.int64))
        case "any": return Reading(shape: .any("the schema allows any value"))
        case "array":
            let positions = schema.list("prefixItems") + schema.list("items")
            guard let first = positions.first else { return Reading(shape: .list(schema["items"])) }
            if positions.allSatisfy({ $0.json == first.json }) { return Reading(shape: .list(first)) }
            return Reading(shape: .list(nil), note: "Each position in the list has a type of its own.")
        case "object":
            let object = Self.object(schema)
            guard object.properties.isEmpty else { return Reading(shape: .object(object)) }
            let patterns = schema["patternProperties"]
            if let key = patterns?.json.object?.keys.first, patterns?.json.object?.count == 1 {
                return Reading(shape: .dictionary(patterns?[key]))
            }
            let values = schema["additionalProperties"]
            return Reading(shape: .dictionary(values?.json.object?.isEmpty == false ? values : nil))
        default:
            warn(schema.place.appending(["type"]), "there is no type '\(type)'")
            return Reading(shape: .any("the schema's type '\(type)' does not exist"))
        }
    }

    private static func string(_ schema: Schema) -> Reading {
        if schema.text("contentEncoding") == "base64" { return Reading(shape: .scalar(.data)) }
        switch schema.text("format") {
        case "date-time", "iso-date-time": return Reading(shape: .scalar(.date))
        case "date": return Reading(shape: .scalar(.string), note: "A day, such as 2026-11-21.")
        case "uuid": return Reading(shape: .scalar(.uuid))
        case "uri", "url", "iri", "uri-reference": return Reading(shape: .scalar(.url))
        case "binary", "byte": return Reading(shape: .scalar(.data))
        default: return Reading(shape: .scalar(.string))
        }
    }
}
