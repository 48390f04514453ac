extension JSONValue: Codable {
    /// Decodes any JSON value from any decoder; `JSONValueDecoder` hands its value over without this.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let string = try? container.decode(String.self) {
            self = .string(string)
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let integer = try? container.decode(Int64.self) {
            self = .integer(integer)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let object = try? container.decode(JSONObject.self) {
            self = .object(object)
        } else {
            // The last try keeps its error, whose coding path leads to the value that is none of these.
            self = .array(try container.decode([JSONValue].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let object): try object.encode(to: encoder)
        case .array(let array): try array.encode(to: encoder)
        default:
            var container = encoder.singleValueContainer()
            switch self {
            case .bool(let bool): try container.encode(bool)
            case .integer(let integer): try container.encode(integer)
            case .number(let number): try container.encode(number)
            case .string(let string): try container.encode(string)
            default: try container.encodeNil()
            }
        }
    }
}

extension JSONObject: Codable {
    /// Decodes an object from any decoder, keys in the order in which the decoder lists them.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: JSONKey.self)
        let keys = container.allKeys
        self.init(minimumCapacity: keys.count)
        for key in keys { self[key.stringValue] = try container.decode(JSONValue.self, forKey: key) }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: JSONKey.self)
        for entry in entries { try container.encode(entry.value, forKey: JSONKey(stringValue: entry.key)) }
    }
}
