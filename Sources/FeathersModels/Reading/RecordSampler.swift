package import FeathersJSON

/// Guesses the schema of a service from records it returned, and says how sure it is.
package struct RecordSampler: Sendable {
    /// A guess from fewer records than this is called a sketch.
    private static let enough = 20

    /// The path of the service.
    package var path: String
    package var records: [JSONValue]

    package init(path: String, records: [JSONValue]) {
        self.path = path
        self.records = records
    }

    /// The records of a result of `find`: a page or a list.
    package static func records(of result: JSONValue) -> [JSONValue]? { result["data"]?.array ?? result.array }

    /// The schema, as a source for ``ModelGenerator``. Nil if there is no record, or if records are not objects.
    package var source: SchemaSource? {
        let objects = records.compactMap(\.object)
        guard !objects.isEmpty, objects.count == records.count else { return nil }
        var schema = Self.object(objects)
        schema["description"] = .string(
            "Guessed from \(Self.count(objects.count)). "
                + (objects.count < Self.enough
                    ? "Few records: check each property." : "Check what the comments call unsure."))
        return SchemaSource(name: path + ".json", json: schema)
    }

    /// How sure the guess is, in one line.
    package var confidence: String {
        guard source != nil else { return "\(path): no records to look at" }
        let word = records.count < Self.enough ? "a sketch" : records.count < 5 * Self.enough ? "fairly sure" : "sure"
        return "\(path): \(word), from \(Self.count(records.count))"
    }

    private static func count(_ number: Int) -> String { number == 1 ? "1 record" : "\(number) records" }

    private static func object(_ objects: [JSONObject]) -> JSONValue {
        var (values, order) = ([String: [JSONValue]](), [String]())
        for (key, value) in objects.flatMap(Array.init) {
            if values[key] == nil { order.append(key) }
            values[key, default: []].append(value)
        }
        if let dictionary = dictionary(objects, order, values) { return dictionary }
        var properties = JSONObject()
        for key in order {
            let found = values[key] ?? []
            var property = schema(of: found)
            var notes: [String] = []
            if found.count < objects.count { notes.append("In \(found.count) of \(objects.count) records.") }
            let nulls = found.count { $0.isNull }
            if nulls == found.count {
                notes.append("Unsure: always null.")
            } else if nulls > 0 {
                notes.append("Null in \(nulls).")
            }
            if let values = fewValues(found) { notes.append("Unsure: perhaps an enumeration, of \(values).") }
            if !notes.isEmpty { property["description"] = .string(notes.joined(separator: " ")) }
            properties[key] = property
        }
        let required = order.filter { values[$0]?.count == objects.count }.map { JSONValue.string($0) }
        return ["type": "object", "properties": .object(properties), "required": .array(required)]
    }

    /// Returns a dictionary if the objects have many keys, each of which is rare: such objects hold values by id.
    private static func dictionary(_ objects: [JSONObject], _ keys: [String], _ values: [String: [JSONValue]])
        -> JSONValue?
    {
        guard keys.count > 12, keys.allSatisfy({ (values[$0]?.count ?? 0) * 2 < objects.count }) else { return nil }
        return ["type": "object", "additionalProperties": schema(of: keys.flatMap { values[$0] ?? [] })]
    }

    private static func schema(of values: [JSONValue]) -> JSONValue {
        let found = values.filter { !$0.isNull }
        var schema = typed(found)
        if found.count < values.count { schema["nullable"] = true }
        return schema
    }

    private static func typed(_ found: [JSONValue]) -> JSONValue {
        if found.isEmpty { return [:] }
        if found.allSatisfy({ $0.bool != nil }) { return ["type": "boolean"] }
        if found.allSatisfy({ if case .integer = $0 { true } else { false } }) { return ["type": "integer"] }
        if found.allSatisfy({ $0.number != nil }) { return ["type": "number"] }
        let (strings, lists, objects) = (
            found.compactMap(\.string), found.compactMap(\.array), found.compactMap(\.object)
        )
        if strings.count == found.count {
            let formats: [(String, (String) -> Bool)] = [("date-time", isDate), ("uuid", isUUID), ("uri", isURL)]
            let format = formats.first { strings.allSatisfy($0.1) }
            return format.map { ["type": "string", "format": .string($0.0)] } ?? ["type": "string"]
        }
        if lists.count == found.count {
            let elements = lists.flatMap(\.self)
            return elements.isEmpty ? ["type": "array"] : ["type": "array", "items": schema(of: elements)]
        }
        if objects.count == found.count { return object(objects) }
        // If the values have several types, each type becomes an alternative.
        let groups =
            [found.filter { $0.bool != nil }, found.filter { $0.number != nil }, found.filter { $0.string != nil }]
            + [found.filter { $0.array != nil }, found.filter { $0.object != nil }]
        return ["anyOf": .array(groups.filter { !$0.isEmpty }.map(typed))]
    }

    /// Returns the values of a property that has only a few different values, each of them several times.
    private static func fewValues(_ found: [JSONValue]) -> String? {
        let strings = found.compactMap(\.string)
        let counts = Dictionary(strings.map { ($0, 1) }, uniquingKeysWith: +)
        guard strings.count >= enough, (2...6).contains(counts.count), counts.values.allSatisfy({ $0 > 1 }) else {
            return nil
        }
        guard
            counts.keys.allSatisfy({
                $0.count <= 24 && $0.contains(where: \.isLetter) && !$0.contains(where: \.isNewline)
            })
        else {
            return nil
        }
        return counts.keys.sorted().map { JSONValue.string($0).description }.joined(separator: ", ")
    }

    /// Whether a text is a date as JavaScript writes it: `2026-11-21T09:30:00.000Z`.
    private static func isDate(_ text: String) -> Bool {
        text.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/.asciiOnlyDigits()) != nil
    }

    private static func isUUID(_ text: String) -> Bool {
        text.wholeMatch(of: /[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}/) != nil
    }

    private static func isURL(_ text: String) -> Bool {
        text.wholeMatch(of: /https?:\/\/[^\s]+/) != nil
    }
}
