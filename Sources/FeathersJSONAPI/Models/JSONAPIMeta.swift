public import FeathersCore

/// The meta of a resource, as a property of its model.
public struct JSONAPIMeta: Hashable, Sendable {
    /// The meta as it stands in the document.
    public var json: JSONObject

    /// Meta with these members.
    public init(_ json: JSONObject = [:]) {
        self.json = json
    }

    /// The meta as a type of yours.
    /// - Throws: `DecodingError`, and whatever the type's own `init(from:)` throws.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self, with coding: CodingOptions = CodingOptions()) throws -> Value {
        try coding.decode(type, from: .object(json))
    }
}

extension JSONAPIMeta: Codable {
    public init(from decoder: any Decoder) throws {
        json = try JSONObject.decode(from: decoder)
    }

    public func encode(to encoder: any Encoder) throws {
        try JSONValue.object(json).encode(to: encoder)
    }
}

extension JSONAPILinks: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(try JSONObject.decode(from: decoder))
    }

    public func encode(to encoder: any Encoder) throws {
        try JSONValue.object(json).encode(to: encoder)
    }
}

extension JSONObject {
    fileprivate static func decode(from decoder: any Decoder) throws -> JSONObject {
        let container = try decoder.singleValueContainer()
        guard let object = try container.decode(JSONValue.self).object else {
            throw DecodingError.typeMismatch(
                JSONObject.self, DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "Expected an object."))
        }
        return object
    }
}
