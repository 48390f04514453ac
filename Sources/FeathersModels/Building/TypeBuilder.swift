import FeathersJSON

// The types of schemas: structures, enumerations, and unions, and the types nested in them.
extension ModelBuilder {
    /// The purpose of a structure.
    enum Role {
        /// A service's records.
        case model
        case data, patch
        /// A part of the records or the data.
        case part
    }

    /// The scope inside a type, where other types can be declared.
    struct Scope {
        var path: String
        var nested: [SwiftDeclaration] = []
        /// The names of the enclosing types, and of the nested types.
        var names: NameSpace

        init(path: String) {
            self.path = path
            names = NameSpace(Set(path.split(separator: ".").map(String.init)))
        }
    }

    /// A type, and how a property uses it.
    struct Use {
        var type: SwiftType
        var isNullable = false
        var notes: [String] = []

        /// The type as an element of a list or dictionary: an optional if values may be null.
        var element: SwiftType { isNullable && type != .json ? .optional(type) : type }
    }

    /// The declaration of a schema that has a type of its own.
    mutating func declaration(of schema: Schema, path: String) -> SwiftDeclaration? {
        declaration(of: reader.read(schema).shape, path: path, comment: comment(of: schema))
    }

    private mutating func declaration(of shape: Shape, path: String, comment: [String]) -> SwiftDeclaration? {
        switch shape {
        case .object(let object): .structure(structure(path: path, object, as: .part, comment: comment))
        case .enumeration(let values): .enumeration(Self.enumeration(values, path: path, comment: comment))
        case .numbers(let numbers):
            .enumeration(
                SwiftEnumeration(
                    path: path, comment: comment, rawType: "Int",
                    cases: Self.cases(numbers.map { ($0.name, String($0.value)) }), unknown: "unknown"))
        case .union(let shape): .union(union(shape, path: path, comment: comment))
        case .null, .any, .scalar, .list, .dictionary, .named: nil
        }
    }

    mutating func type(of schema: Schema, suggested: String, in scope: inout Scope) -> Use {
        type(of: reader.read(schema), schema, suggested: suggested, in: &scope)
    }

    private mutating func type(of reading: Reading, _ schema: Schema, suggested: String, in scope: inout Scope) -> Use {
        var use = Use(type: .json, isNullable: reading.isNullable, notes: [reading.note].compactMap(\.self))
        switch reading.shape {
        case .null: use = Use(type: .json, isNullable: true, notes: ["`JSONValue`, since the schema allows only null."])
        case .any(let why): use.notes.append("`JSONValue`, since \(why).")
        case .scalar(let scalar): use.type = .scalar(scalar)
        case .named(let target): use.type = .named(typeName(of: target))
        case .list(let element):
            let inner = element.map { inside($0, suggested, in: &scope) }
            use.type = .list(inner?.element ?? .json)
            use.notes +=
                inner?.notes
                ?? (reading.note == nil ? ["`JSONValue`, since the schema does not say what the list holds."] : [])
        case .dictionary(let values):
            let inner = values.map { inside($0, suggested, in: &scope) }
            use.type = .dictionary(inner?.element ?? .json)
            use.notes += inner?.notes ?? ["`JSONValue`, since the schema does not name the object's properties."]
        case .object, .enumeration, .numbers, .union:
            use.type = nestedType(of: reading.shape, schema, suggested: suggested, in: &scope)
        }
        return use
    }

    /// Returns the type of a list's elements or a dictionary's values.
    private mutating func inside(_ schema: Schema, _ suggested: String, in scope: inout Scope) -> Use {
        // References may nest lists deeper than any document does, or any type should.
        guard containers.count < 16 else {
            return Use(type: .json, notes: ["`JSONValue`, since the lists around it are nested too deeply."])
        }
        let element = Element(source: schema.place.source, schema: schema.json)
        guard containers.insert(element).inserted else {
            return Use(type: .json, notes: ["`JSONValue`, since the schema contains itself."])
        }
        defer { containers.remove(element) }
        return type(of: schema, suggested: SwiftNames.singular(suggested), in: &scope)
    }

    /// Returns a new type nested in the current one, or the same type from an earlier use.
    private mutating func nestedType(of shape: Shape, _ schema: Schema, suggested: String, in scope: inout Scope)
        -> SwiftType
    {
        let key = ReusableType(name: suggested, schema: Self.bare(shape, schema))
        if let known = reusable[key] { return known }
        let base = suggested.isEmpty ? "Value" : suggested
        let parent = scope.path.split(separator: ".").last ?? ""
        let name = scope.names.take(
            [base == "Type" ? "Kind" : base, base + "Value", parent + base], unless: { isTakenInside($0) })
        let path = scope.path.isEmpty ? name : "\(scope.path).\(name)"
        // Stored before the type is declared, because the type may contain itself.
        reusable[key] = .named(path)
        // The type gets no comment, because a property's description is about the property.
        if let declaration = declaration(of: shape, path: path, comment: []) { scope.nested.append(declaration) }
        return .named(path)
    }

    /// Returns the schema without descriptions, and without the keywords that belong to the property that uses it.
    private static func bare(_ shape: Shape, _ schema: Schema) -> JSONValue {
        if case .enumeration(let values) = shape { return .array(values.map { .string($0) }) }
        return bare(schema.without("nullable", "readOnly").json)
    }

    private static func bare(_ json: JSONValue) -> JSONValue {
        switch json {
        case .object(let object):
            let silent: Set<String> = ["description", "title", "example", "examples", "default"]
            return .object(
                JSONObject(
                    object.filter { !silent.contains($0.key) || $0.value.object != nil }.map {
                        ($0.key, bare($0.value))
                    }))
        case .array(let array): return .array(array.map(bare))
        default: return json
        }
    }

    // MARK: Structures

    mutating func structure(path: String, _ object: ObjectShape, as role: Role, comment: [String]) -> SwiftStructure {
        var scope = Scope(path: path)
        var properties: [SwiftProperty] = []
        let names = Self.names(of: object.properties.map(\.name))
        // Types and properties share a scope.
        for name in names { scope.names.insert(name) }
        for (name, (key, schema)) in zip(names, object.properties) {
            let isReadOnly = isMarked("readOnly", schema)
            let isWriteOnly = isMarked("writeOnly", schema)
            guard role == .part || !(role == .model ? isWriteOnly : isReadOnly) else { continue }
            let use = type(of: schema, suggested: SwiftNames.type(key), in: &scope)
            let fallback = role == .data ? schema.json["default"] : nil
            let isRequired =
                object.required.contains(key) && fallback == nil && !(role == .part && (isReadOnly || isWriteOnly))
            var property = SwiftProperty(
                name: name, key: key, type: use.type,
                presence: Self.presence(use, isRequired: isRequired, in: role))
            property.comment = self.comment(of: schema) + use.notes
            if property.presence == .required { property.constant = constant(of: schema) }
            if schema.json["deprecated"]?.bool == true { property.comment.append("Deprecated.") }
            if let fallback { property.comment.append("The server's default is `\(fallback.description)`.") }
            properties.append(property)
        }
        var comment = comment
        if object.isOpen { comment.append("Further properties, which the schema allows, are not kept.") }
        return SwiftStructure(path: path, comment: comment, properties: properties, nested: scope.nested)
    }

    /// Returns the case of a property that has only one possible value.
    private mutating func constant(of schema: Schema) -> String? {
        guard case .enumeration(let values) = reader.unnamed(reader.read(schema).shape), values.count == 1 else {
            return nil
        }
        return Self.enumeration(values, path: "", comment: []).cases.first?.name
    }

    private func isMarked(_ mark: String, _ schema: Schema) -> Bool {
        schema.json[mark]?.bool == true || reader.library.resolved(schema)?.json[mark]?.bool == true
    }

    private static func presence(_ use: Use, isRequired: Bool, in role: Role) -> SwiftProperty.Presence {
        let isNullable = use.isNullable && use.type != .json
        if role == .patch { return isNullable ? .patch : isRequired ? .required : .optional }
        return isRequired ? isNullable ? .nullable : .required : .optional
    }

    /// Returns the names of keys, in their order. A key that is already a good name stays unchanged.
    ///
    /// Names are taken only once even if they are written differently, in the forms of Unicode, but keys are not.
    private static func names(of keys: [String]) -> [String] {
        var taken = NameSpace(SwiftNames.takenProperties)
        let properties = keys.map(SwiftNames.property)
        var names = zip(keys, properties).map { key, name in
            SwiftNames.isIdentifier(key) && name == key && taken.insert(key) ? key : nil as String?
        }
        for (index, key) in keys.enumerated() where names[index] == nil {
            let name = properties[index]
            // Property wrappers store `id` as `_id`.
            let written = SwiftNames.isIdentifier(key) && !key.hasPrefix("_") ? key : ""
            names[index] = taken.take(
                [name, written, name.isEmpty ? "value" : name + (name.hasSuffix("Value") ? "Property" : "Value")])
        }
        return names.compactMap(\.self)
    }

    // MARK: Enumerations

    private static func enumeration(_ values: [String], path: String, comment: [String]) -> SwiftEnumeration {
        SwiftEnumeration(
            path: path, comment: comment, rawType: "String", cases: cases(values.map { ($0, SwiftWriter.literal($0)) }),
            unknown: "unknown")
    }

    /// Returns cases with unique names, derived from the names in the document.
    private static func cases(_ all: [(written: String, literal: String)]) -> [(name: String, literal: String)] {
        var (cases, taken) = ([(name: String, literal: String)](), NameSpace(SwiftNames.takenCases))
        for (written, literal) in all {
            let name = SwiftNames.property(written)
            let candidates = written.isEmpty ? ["empty"] : name.isEmpty ? ["value"] : [name, name + "Value"]
            cases.append((taken.take(candidates), literal))
        }
        return cases
    }

    private mutating func union(_ shape: UnionShape, path: String, comment: [String]) -> SwiftUnion {
        var scope = Scope(path: path)
        var (cases, taken) = ([SwiftUnion.Case](), NameSpace(SwiftNames.takenCases))
        let objects = shape.alternatives.count { if case .object = $0.reading.shape { true } else { false } }
        for (index, alternative) in shape.alternatives.enumerated() {
            let written = caseName(alternative, isOnlyObject: objects == 1) ?? "option\(index + 1)"
            let name = taken.take([written, written + "Value"])
            let use = type(of: alternative.reading, alternative.schema, suggested: SwiftNames.type(name), in: &scope)
            cases.append(SwiftUnion.Case(name: name, type: use.type, value: alternative.value))
        }
        return SwiftUnion(
            path: path, comment: comment, cases: cases, discriminator: shape.discriminator, unknown: "unknown",
            nested: scope.nested)
    }

    private mutating func caseName(_ alternative: UnionShape.Alternative, isOnlyObject: Bool) -> String? {
        let name =
            if let value = alternative.value {
                SwiftNames.property(value)
            } else {
                switch alternative.reading.shape {
                case .named(let target): SwiftNames.property(typeName(of: target))
                case .scalar(let scalar): scalar.rawValue.lowercased()
                case .list: "list"
                case .dictionary: "dictionary"
                case .enumeration: "value"
                case .numbers: "number"
                default: SwiftNames.property(alternative.schema.text("title") ?? (isOnlyObject ? "object" : ""))
                }
            }
        return name.isEmpty ? nil : name
    }
}
