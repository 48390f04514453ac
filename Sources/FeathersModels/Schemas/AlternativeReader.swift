import FeathersJSON

// Reads `anyOf` and `oneOf`: joins alternatives that are a single type, and decides how to tell the others apart.
extension ShapeReader {
    mutating func readAlternatives(_ schemas: [Schema], of base: Schema, _ depth: Int) -> Reading {
        var isNullable = false
        var found: [UnionShape.Alternative] = []
        for schema in schemas {
            let whole =
                Self.isStructural(base)
                ? Schema(json: ["allOf": [base.json, schema.json]], place: schema.place) : schema
            let reading = read(whole, depth: depth)
            // Other alternatives cannot change this. Without an early return, a cycle of alternatives would take time
            // for each path through it.
            if reading.isEndless { return reading }
            isNullable = isNullable || reading.isNullable
            if case .null = reading.shape { continue }
            found.append(UnionShape.Alternative(schema: whole, reading: reading))
        }
        var reading = joined(found, discriminator: base["discriminator"])
        reading.isNullable = reading.isNullable || isNullable
        return reading
    }

    private mutating func joined(_ all: [UnionShape.Alternative], discriminator: Schema?) -> Reading {
        guard let first = all.first else { return Reading(shape: .null, isNullable: true) }
        if all.count == 1 { return first.reading }
        var (texts, numbers, bools, rest):
            ([UnionShape.Alternative], [UnionShape.Alternative], [UnionShape.Alternative], [UnionShape.Alternative])
        (texts, numbers, bools, rest) = ([], [], [], [])
        for alternative in all {
            switch unnamed(alternative.reading.shape) {
            case .any(let why): return Reading(shape: .any(why))
            case .scalar(let scalar) where scalar.isText: texts.append(alternative)
            case .enumeration: texts.append(alternative)
            case .scalar(let scalar) where scalar.isNumber: numbers.append(alternative)
            case .numbers: numbers.append(alternative)
            case .scalar: bools.append(alternative)
            default: rest.append(alternative)
            }
        }
        // MongoDB's ids are strings in JSON; their schemas also allow the driver's object.
        if texts.contains(where: { Self.isObjectID($0.schema) }), numbers.isEmpty, bools.isEmpty,
            rest.allSatisfy({ $0.isAnyObject })
        {
            return Reading(shape: .scalar(.string))
        }
        let scalars = [text(texts), number(numbers), bools.first].compactMap(\.self)
        guard !rest.isEmpty || scalars.count > 1 else {
            return scalars.first?.reading ?? first.reading
        }
        // To tell alternatives apart, their properties are examined, which may contain the union itself.
        if isPeeking { return Reading(shape: .any("its alternatives are not told apart here")) }
        return union(scalars, rest, discriminator)
    }

    private static func isObjectID(_ schema: Schema) -> Bool {
        schema.json["objectid"]?.bool == true || schema.text("instanceOf") == "ObjectId"
            || schema.text("pattern")?.contains("{24}") == true
    }

    /// Joins all alternatives that are strings in JSON.
    private mutating func text(_ all: [UnionShape.Alternative]) -> UnionShape.Alternative? {
        guard var first = all.first, all.count > 1 else { return all.first }
        var (values, scalars) = ([String](), Set<Shape.Scalar>())
        for alternative in all {
            switch unnamed(alternative.reading.shape) {
            case .enumeration(let some): values += some.filter { !values.contains($0) }
            case .scalar(let scalar): scalars.insert(scalar)
            default: break
            }
        }
        switch (values.isEmpty, scalars.count) {
        case (false, 0): first.reading = Reading(shape: .enumeration(values))
        case (true, 1): break
        default:
            let note =
                values.isEmpty
                ? nil : "Often one of \(values.map { JSONValue.string($0).description }.joined(separator: ", "))."
            first.reading = Reading(shape: .scalar(.string), note: note)
        }
        return first
    }

    /// Joins all alternatives that are numbers in JSON.
    private func number(_ all: [UnionShape.Alternative]) -> UnionShape.Alternative? {
        guard var first = all.first, all.count > 1 else { return all.first }
        let scalars: Set<Shape.Scalar> = Set(
            all.map { if case .scalar(let scalar) = $0.reading.shape { scalar } else { .int } })
        // Drops the notes, because each lists the values of only one alternative.
        let whole: Set<Shape.Scalar> = [.int, .int32, .int64]
        let shape = scalars.count == 1 ? scalars.first : scalars.isSubset(of: whole) ? .int64 : .double
        first.reading = Reading(shape: .scalar(shape ?? .double))
        return first
    }

    private mutating func union(
        _ scalars: [UnionShape.Alternative], _ rest: [UnionShape.Alternative], _ written: Schema?
    ) -> Reading {
        var (lists, objects, dictionaries) = (
            [UnionShape.Alternative](), [(UnionShape.Alternative, ObjectShape)](), [UnionShape.Alternative]()
        )
        for alternative in rest {
            switch unnamed(alternative.reading.shape) {
            case .list: lists.append(alternative)
            case .object(let object): objects.append((alternative, object))
            case .dictionary: dictionaries.append(alternative)
            default: return Reading(shape: .any("one of its alternatives is a list of alternatives itself"))
            }
        }
        guard lists.count <= 1, dictionaries.count <= 1 else {
            let kind = lists.count > 1 ? "lists" : "dictionaries"
            return Reading(shape: .any("its alternatives are several \(kind), which cannot be told apart"))
        }
        if scalars.isEmpty, lists.isEmpty, dictionaries.isEmpty, let union = discriminated(objects, by: written) {
            return Reading(shape: .union(union))
        }
        // The more an object requires, the earlier it is tried.
        let sorted = objects.enumerated().sorted { left, right in
            let counts = (left.element.1.required.count, right.element.1.required.count)
            return counts.0 == counts.1 ? left.offset < right.offset : counts.0 > counts.1
        }.map(\.element)
        for (index, (_, later)) in sorted.enumerated() {
            for (_, earlier) in sorted.prefix(index) where !tells(earlier, from: later) {
                return Reading(
                    shape: .any(
                        "its alternatives cannot be told apart: "
                            + "no property is required in one and missing in the others"
                    ))
            }
        }
        if !dictionaries.isEmpty, objects.contains(where: { $0.1.required.isEmpty }) {
            return Reading(shape: .any("its alternatives, an object and a dictionary, cannot be told apart"))
        }
        return Reading(shape: .union(UnionShape(alternatives: scalars + lists + sorted.map(\.0) + dictionaries)))
    }

    /// Whether no value of `other` can be mistaken for a value of `object`.
    private mutating func tells(_ object: ObjectShape, from other: ObjectShape) -> Bool {
        for name in object.required {
            guard let mine = object.schema(of: name) else { continue }
            guard let theirs = other.schema(of: name) else {
                // Both have the property, although only one of them describes it.
                if other.required.contains(name) { continue }
                return true
            }
            let kinds = (kind(of: mine), kind(of: theirs))
            if other.required.contains(name), let first = kinds.0, let second = kinds.1, first != second { return true }
        }
        return false
    }

    /// Returns the JSON type of a property, if there is only one.
    private mutating func kind(of schema: Schema) -> String? {
        let reading = peek(at: schema)
        guard !reading.isNullable else { return nil }
        switch reading.shape {
        case .scalar(.bool): return "boolean"
        case .scalar(let scalar): return scalar.isNumber ? "number" : "string"
        case .enumeration: return "string"
        case .numbers: return "number"
        case .list: return "array"
        case .object, .dictionary: return "object"
        case .null, .any, .union, .named: return nil
        }
    }

    /// Returns the union if its alternatives can be told apart by a required property: one that has a different
    /// constant in each of them, or that the document names.
    private mutating func discriminated(_ all: [(UnionShape.Alternative, ObjectShape)], by written: Schema?)
        -> UnionShape?
    {
        guard let first = all.first?.1 else { return nil }
        let named = written?.text("propertyName")
        for candidate in named.map({ [$0] }) ?? first.properties.map(\.name).filter(first.required.contains) {
            var (alternatives, seen) = ([UnionShape.Alternative](), Set<String>())
            for (alternative, object) in all {
                guard
                    let value = constant(candidate, of: object)
                        ?? mapped(alternative, by: named == nil ? nil : written),
                    seen.insert(value).inserted
                else { break }
                alternatives.append(
                    UnionShape.Alternative(schema: alternative.schema, reading: alternative.reading, value: value))
            }
            if alternatives.count == all.count {
                return UnionShape(alternatives: alternatives, discriminator: candidate)
            }
        }
        return nil
    }

    private mutating func constant(_ property: String, of object: ObjectShape) -> String? {
        guard object.required.contains(property), let schema = object.schema(of: property) else { return nil }
        guard case .enumeration(let values) = peek(at: schema).shape, values.count == 1 else { return nil }
        return values.first
    }

    /// Returns the discriminator's value in OpenAPI: from its mapping or, without one, the schema's name.
    private func mapped(_ alternative: UnionShape.Alternative, by discriminator: Schema?) -> String? {
        guard let discriminator, case .named(let target) = alternative.reading.shape else { return nil }
        let mapping = discriminator.json["mapping"]?.object ?? [:]
        for (value, reference) in mapping {
            guard let reference = reference.string else { continue }
            let found = library.target(of: reference, in: discriminator.place.source)
            if found?.place == target.place || reference == target.place.lastName { return value }
        }
        return mapping.isEmpty ? target.place.lastName : nil
    }
}

extension UnionShape.Alternative {
    fileprivate var isAnyObject: Bool {
        if case .dictionary(nil) = reading.shape { true } else { false }
    }
}
