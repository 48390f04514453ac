import FeathersJSON

/// A schema made up at random, which knows values that fit it and values that do not.
indirect enum RandomSchema {
    case scalar(Scalar)
    case enumeration([String])
    /// Whole numbers with names.
    case numbers([Int64])
    case list(RandomSchema)
    case dictionary(RandomSchema)
    case object([Field])
    /// Objects that a constant property tells apart.
    case tagged([(tag: String, fields: [Field])])
    /// A string, a number or a list.
    case kinds
    case nullable(RandomSchema)
    /// The record's own schema again.
    case record

    enum Scalar: CaseIterable {
        case string, integer, int64, number, boolean, date, uuid, uri, bytes
    }

    struct Field {
        var key: String
        var schema: RandomSchema
        var isRequired: Bool
    }

    private static let words = [
        "text", "created_at", "user_id", "isPinned", "default", "class", "self", "Type", "avatar-url", "2fa",
        "HTTPStatus", "for", "value",
        "id",
        "_id", "__v", "hash", "description", "rawValue", "codingKeys", "String", "data", "status", "x.y", "naïve", "in",
        "init", "items",
        "properties", "await",
    ]

    // MARK: Schemas

    static func fields(_ chance: inout Chance, depth: Int) -> [Field] {
        words.shuffled(using: &chance).prefix(2 + chance.next(6)).map { key in
            Field(key: key, schema: random(&chance, depth: depth), isRequired: chance.next(3) > 0)
        }
    }

    static func random(_ chance: inout Chance, depth: Int) -> RandomSchema {
        switch chance.next(depth > 0 ? 15 : 7) {
        case 0...3: .scalar(Scalar.allCases.randomElement(using: &chance) ?? .string)
        case 4: .enumeration(Array(words.shuffled(using: &chance).prefix(1 + chance.next(5))))
        case 5: .nullable(.scalar(Scalar.allCases.randomElement(using: &chance) ?? .string))
        case 6: .numbers(Array([-1, 0, 1, 2, 404].shuffled(using: &chance).prefix(1 + chance.next(4))))
        case 7: .nullable(.enumeration(["a", "b"]))
        case 8: .list(random(&chance, depth: depth - 1))
        case 9: .dictionary(random(&chance, depth: depth - 1))
        case 10, 11: .object(fields(&chance, depth: depth - 1))
        case 12:
            .tagged(
                ["circle", "square", "in"].prefix(2 + chance.next(2)).map { tag in
                    (tag, fields(&chance, depth: depth - 1).filter { $0.key != "kind" })
                })
        case 13: .kinds
        default: .list(.record)
        }
    }

    /// The schema in one of the ways to write it.
    func json(_ chance: inout Chance) -> JSONValue {
        switch self {
        case .scalar(let scalar): return scalar.json
        case .enumeration(let values):
            if chance.isTrue() { return ["type": "string", "enum": .array(values.map { .string($0) })] }
            return ["anyOf": .array(values.map { ["const": .string($0), "type": "string"] })]
        case .numbers(let values):
            let names = values.map { JSONValue.string(Self.words[Int($0 & 7)]) }
            return [
                "type": "integer", "enum": .array(values.map { .integer($0) }),
                chance.isTrue() ? "x-enum-varnames" : "x-enumNames": .array(names),
            ]
        case .list(let element): return ["type": "array", "items": element.json(&chance)]
        case .dictionary(let value):
            if chance.isTrue() { return ["type": "object", "additionalProperties": value.json(&chance)] }
            return ["type": "object", "patternProperties": ["^(.*)$": value.json(&chance)]]
        case .object(let fields):
            guard chance.next(3) == 0, let first = fields.first else { return Self.object(fields, &chance) }
            return ["allOf": [Self.object([first], &chance), Self.object(Array(fields.dropFirst()), &chance)]]
        case .tagged(let alternatives):
            let objects = alternatives.map { tag, fields in
                var object = Self.object(fields, &chance)
                object["properties"]?["kind"] = ["const": .string(tag)]
                object["required"] = .array((object["required"]?.array ?? []) + ["kind"])
                return object
            }
            return [chance.isTrue() ? "anyOf" : "oneOf": .array(objects)]
        case .kinds:
            return [
                "anyOf": [["type": "string"], ["type": "number"], ["type": "array", "items": ["type": "integer"]]]
            ]
        case .nullable(let schema):
            var json = schema.json(&chance)
            if case .string(let type)? = json["type"], json["enum"] == nil, chance.isTrue() {
                json["type"] = [.string(type), "null"]
                return json
            }
            if chance.isTrue() { return ["anyOf": [json, ["type": "null"]]] }
            json["nullable"] = true
            return json
        case .record: return ["$ref": "#/components/schemas/THIS"]
        }
    }

    static func object(_ fields: [Field], _ chance: inout Chance) -> JSONValue {
        [
            "type": "object", "additionalProperties": false,
            "required": .array(fields.filter(\.isRequired).map { .string($0.key) }),
            "properties": .object(JSONObject(fields.map { ($0.key, $0.schema.json(&chance)) })),
        ]
    }

    // MARK: Values

    /// A value that fits. Optional properties are there or not, and are never null, which is nil too.
    func valid(_ chance: inout Chance, _ record: [Field], depth: Int = 3) -> JSONValue {
        switch self {
        case .scalar(let scalar): return scalar.valid(&chance)
        // What is not listed is taken too, and kept.
        case .enumeration(let values):
            return .string(chance.next(6) == 0 ? "not listed" : values.randomElement(using: &chance) ?? "")
        case .numbers(let values): return .integer(chance.next(4) == 0 ? 99 : values.randomElement(using: &chance) ?? 0)
        case .list(let element):
            return depth > 0
                ? .array((0..<chance.next(3)).map { _ in element.valid(&chance, record, depth: depth - 1) }) : []
        case .dictionary(let value):
            return .object(
                JSONObject((0..<chance.next(3)).map { ("key \($0)", value.valid(&chance, record, depth: depth - 1)) }))
        case .object(let fields): return Self.valid(fields, &chance, record, depth: depth)
        case .tagged(let alternatives):
            guard chance.next(8) > 0, let (tag, fields) = alternatives.randomElement(using: &chance) else {
                return ["kind": "not listed", "more": [1, nil]]
            }
            var object = Self.valid(fields, &chance, record, depth: depth)
            object["kind"] = .string(tag)
            return object
        case .kinds: return [["x", 1.5, [1, 2]], ["", -3, []]][chance.next(2)][chance.next(3)] ?? nil
        case .nullable(let schema): return chance.next(3) == 0 ? nil : schema.valid(&chance, record, depth: depth)
        case .record: return Self.valid(record, &chance, record, depth: depth - 1)
        }
    }

    static func valid(_ fields: [Field], _ chance: inout Chance, _ record: [Field], depth: Int = 3) -> JSONValue {
        var object = JSONObject()
        for field in fields where field.isRequired || depth > 0 && chance.isTrue() {
            let value = field.schema.valid(&chance, record, depth: depth - 1)
            if field.isRequired || !value.isNull { object[field.key] = value }
        }
        return .object(object)
    }

    /// A value that does not fit, or nil where every value does.
    func invalid(_ chance: inout Chance) -> JSONValue? {
        switch self {
        case .scalar(let scalar): scalar.invalid(&chance)
        case .enumeration: [12, true, [:]][chance.next(3)]
        case .numbers: (["1", 1.5, true] as [JSONValue])[chance.next(3)]
        case .list(let element): chance.isTrue() ? ["no": "list"] : element.invalid(&chance).map { [$0] }
        case .dictionary(let value): chance.isTrue() ? ["no object"] : value.invalid(&chance).map { ["key": $0] }
        case .object, .tagged, .record: ["no object", 7, []][chance.next(3)]
        case .kinds: [true, [:], ["no number"]][chance.next(3)]
        case .nullable(let schema): schema.invalid(&chance)
        }
    }

    /// A record that lacks a property, or has one that does not fit.
    static func invalid(_ fields: [Field], _ chance: inout Chance) -> JSONValue? {
        guard let field = fields.randomElement(using: &chance) else { return nil }
        var object = valid(fields, &chance, fields)
        if field.isRequired, chance.isTrue() {
            if case .nullable = field.schema { return nil }
            object[field.key] = nil
            return object
        }
        guard let value = field.schema.invalid(&chance) else { return nil }
        object[field.key] = value
        return object
    }
}

extension RandomSchema.Scalar {
    var json: JSONValue {
        switch self {
        case .string: ["type": "string"]
        case .integer: ["type": "integer"]
        case .int64: ["type": "integer", "format": "int64"]
        case .number: ["type": "number"]
        case .boolean: ["type": "boolean"]
        case .date: ["type": "string", "format": "date-time"]
        case .uuid: ["type": "string", "format": "uuid"]
        case .uri: ["type": "string", "format": "uri"]
        case .bytes: ["type": "string", "format": "byte"]
        }
    }

    func valid(_ chance: inout Chance) -> JSONValue {
        switch self {
        case .string: ["", "naïve 😀", "\"\\", "2024-01-02"][chance.next(4)]
        case .integer: .integer(Int64(chance.next(1000)) - 500)
        case .int64: [9_007_199_254_740_993, 0][chance.next(2)]
        case .number: [0.5, 3, -1.25][chance.next(3)]
        case .boolean: .bool(chance.isTrue())
        case .date: ["2024-02-29T23:59:59.999Z", "1970-01-01T00:00:00.000Z"][chance.next(2)]
        case .uuid: "0f8fad5b-d9cb-469f-a165-70867728950e"
        case .uri: ["https://example.com/a?b=c#d", "http://localhost:3030/"][chance.next(2)]
        case .bytes: ["", "AAECAw=="][chance.next(2)]
        }
    }

    func invalid(_ chance: inout Chance) -> JSONValue {
        switch self {
        case .string: [5, false, []][chance.next(3)]
        case .integer, .int64: ["5", 1.5, true][chance.next(3)]
        case .number: ["5", [], true][chance.next(3)]
        case .boolean: ["true", [:], "yes"][chance.next(3)]
        case .date: ["yesterday", true, ""][chance.next(3)]
        case .uuid: ["not-a-uuid", 1, []][chance.next(3)]
        case .uri: [1, [], false][chance.next(3)]
        case .bytes: ["***", 1, [:]][chance.next(3)]
        }
    }
}
