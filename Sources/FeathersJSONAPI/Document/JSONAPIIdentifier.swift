public import FeathersCore

/// What identifies a resource: its type, and its id or the local id it has until the server gives it one.
public struct JSONAPIIdentifier: Hashable, Sendable {
    /// The resource's type.
    public var type: String
    /// The id; nil for a resource that has only a ``lid`` so far.
    public var id: String?
    /// The local id of a resource that the same request creates.
    public var lid: String?
    /// What is said of this linkage, not of the resource.
    public var meta: JSONObject?

    /// The identifier of a resource that the server knows.
    public init(type: String, id: String, meta: JSONObject? = nil) {
        self.init(type: type, id: id, lid: nil, meta: meta)
    }

    /// The identifier of a resource that the same request creates.
    public init(type: String, lid: String, meta: JSONObject? = nil) {
        self.init(type: type, id: nil, lid: lid, meta: meta)
    }

    init(type: String, id: String?, lid: String?, meta: JSONObject? = nil) {
        self.type = type
        self.id = id
        self.lid = lid
        self.meta = meta
    }

    /// An identifier as it stands in a document; nil where `type`, or both `id` and `lid`, are missing.
    init?(reading json: JSONValue) {
        guard let object = json.object, let type = object["type"]?.string else { return nil }
        let id = object["id"].flatMap(JSONAPIResource.identifierText)
        let lid = object["lid"]?.string
        guard id != nil || lid != nil else { return nil }
        self.init(type: type, id: id, lid: lid, meta: object["meta"]?.object)
    }

    /// The identifier as it stands in a document.
    public var json: JSONValue {
        var object: JSONObject = ["type": .string(type)]
        if let id { object["id"] = .string(id) }
        if let lid { object["lid"] = .string(lid) }
        if let meta { object["meta"] = .object(meta) }
        return .object(object)
    }
}

extension JSONAPIIdentifier: Codable {
    private enum CodingKeys: String, CodingKey {
        case type, id, lid
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            type: try container.decode(String.self, forKey: .type), id: try container.decodeIfPresent(String.self, forKey: .id),
            lid: try container.decodeIfPresent(String.self, forKey: .lid))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(type, forKey: .type)
        try container.encodeIfPresent(id, forKey: .id)
        try container.encodeIfPresent(lid, forKey: .lid)
    }
}

extension JSONAPIIdentifier: CustomStringConvertible {
    public var description: String {
        "\(type) \(id ?? lid.map { "lid \($0)" } ?? "without id")"
    }
}
