public import FeathersCore

/// A resource in a document, with separate attributes, relationships, links, and meta.
///
/// A resource identifier is a resource without attributes and relationships.
public struct JSONAPIResource: Hashable, Sendable {
    /// The resource's type.
    public var type: String
    /// The id; nil until the server assigns one.
    public var id: String?
    /// The local id, which other resources in the same request can use to refer to this one.
    public var lid: String?
    /// The attributes, by their names in the document.
    public var attributes: JSONObject
    /// The relationships, by their names in the document.
    public var relationships: JSONAPIRelationships
    /// The resource's links, such as `self`.
    public var links: JSONAPILinks
    /// The metadata of the resource.
    public var meta: JSONObject?
    /// The members of extensions, by their full names.
    public var extensionMembers: JSONObject

    /// Creates a resource without checking it; to check it, see ``JSONAPIDocument/violations(as:)``.
    public init(
        type: String, id: String? = nil, lid: String? = nil, attributes: JSONObject = [:],
        relationships: JSONAPIRelationships = JSONAPIRelationships(), links: JSONAPILinks = JSONAPILinks(),
        meta: JSONObject? = nil
    ) {
        self.type = type
        self.id = id
        self.lid = lid
        self.attributes = attributes
        self.relationships = relationships
        self.links = links
        self.meta = meta
        extensionMembers = [:]
    }

    init(_ identifier: JSONAPIIdentifier) {
        self.init(type: identifier.type, id: identifier.id, lid: identifier.lid, meta: identifier.meta)
    }

    /// Reads a resource, ignoring unknown members and members with a value of the wrong kind.
    /// - Throws: ``JSONAPIError`` if the JSON is not an object or has no `type`.
    init(reading json: JSONValue, at pointer: @autoclosure () -> JSONPointer) throws(JSONAPIError) {
        guard case .object(let object) = json else { throw JSONAPIError(pointer(), "A resource must be an object") }
        guard case .string(let type)? = object["type"] else {
            throw JSONAPIError(pointer().appending("type"), "A resource must have a 'type' that is a string")
        }
        self.init(type: type)
        for (name, value) in object {
            switch name {
            case "id": id = value.identifierText
            case "lid": lid = value.string
            case "attributes": if case .object(let object) = value { attributes = object }
            case "relationships": if case .object(let object) = value { relationships = JSONAPIRelationships(object) }
            case "links": links = JSONAPILinks(reading: value)
            case "meta": meta = value.object
            case "type": break
            default: if MemberName.isExtension(name) { extensionMembers[name] = value }
            }
        }
    }

    /// The resource's identifier; nil if it has neither an id nor a local id.
    public var identifier: JSONAPIIdentifier? {
        guard id != nil || lid != nil else { return nil }
        return JSONAPIIdentifier(type: type, id: id, lid: lid)
    }

    /// The resource as JSON; empty members are left out.
    public var json: JSONValue {
        var json: JSONObject = ["type": .string(type)]
        if let id { json["id"] = .string(id) }
        if let lid { json["lid"] = .string(lid) }
        if !attributes.isEmpty { json["attributes"] = .object(attributes) }
        if !relationships.isEmpty { json["relationships"] = .object(relationships.json) }
        json.set(links, meta, extensionMembers)
        return .object(json)
    }
}

/// The identity of a resource: its type, and its id or the local id used until the server assigns one.
public struct JSONAPIIdentifier: Hashable, Sendable {
    /// The resource's type.
    public var type: String
    /// The id; nil for a resource that has only a ``lid`` so far.
    public var id: String?
    /// The local id of a resource that the same request creates.
    public var lid: String?
    /// The metadata of this linkage, not of the resource.
    public var meta: JSONObject?

    /// Creates the identifier of a resource that exists on the server.
    public init(type: String, id: String, meta: JSONObject? = nil) {
        self.init(type: type, id: id, lid: nil, meta: meta)
    }

    /// Creates the identifier of a resource that the same request creates.
    public init(type: String, lid: String, meta: JSONObject? = nil) {
        self.init(type: type, id: nil, lid: lid, meta: meta)
    }

    init(type: String, id: String?, lid: String?, meta: JSONObject? = nil) {
        self.type = type
        self.id = id
        self.lid = lid
        self.meta = meta
    }

    /// Reads an identifier; nil if `type` is missing, or if both `id` and `lid` are.
    init?(reading json: JSONValue) {
        guard let object = json.object, let type = object["type"]?.string else { return nil }
        let id = object["id"]?.identifierText
        let lid = object["lid"]?.string
        guard id != nil || lid != nil else { return nil }
        self.init(type: type, id: id, lid: lid, meta: object["meta"]?.object)
    }

    /// The identifier as JSON.
    public var json: JSONValue { JSONAPIResource(self).json }
}

extension JSONAPIIdentifier: Codable {
    private enum CodingKeys: String, CodingKey {
        case type, id, lid
    }
}

extension JSONAPIIdentifier: CustomStringConvertible {
    public var description: String { "\(type) \(id ?? lid.map { "lid \($0)" } ?? "without id")" }
}

/// The key for finding a resource in a document. Keys are compared byte by byte.
struct ResourceKey: Hashable {
    private let type: String
    private let id: String
    private let isLocal: Bool

    init(type: String, id: String, isLocal: Bool = false) {
        (self.type, self.id, self.isLocal) = (type, id, isLocal)
    }

    static func == (left: ResourceKey, right: ResourceKey) -> Bool {
        left.id.isExactly(right.id) && left.type.isExactly(right.type) && left.isLocal == right.isLocal
    }

    func hash(into hasher: inout Hasher) {
        type.hashExactly(into: &hasher)
        id.hashExactly(into: &hasher)
        hasher.combine(isLocal)
    }

    init?(reading json: JSONValue) {
        guard case .object(let object) = json, case .string(let type)? = object["type"] else { return nil }
        if let id = object["id"]?.identifierText {
            self.init(type: type, id: id)
        } else if case .string(let lid)? = object["lid"] {
            self.init(type: type, id: lid, isLocal: true)
        } else {
            return nil
        }
    }
}

extension JSONValue {
    /// The text of an id. Ids must be strings, but many servers write integers, which are equally unambiguous.
    var identifierText: String? {
        switch self {
        case .string(let text): text
        case .integer(let integer): String(integer)
        // An integer beyond Int64.
        case .number, .decimal:
            integer == nil && description.utf8.allSatisfy("-0123456789".utf8.contains) ? description : nil
        default: nil
        }
    }
}
