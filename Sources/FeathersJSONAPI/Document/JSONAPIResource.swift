public import FeathersCore

/// A resource as it stands in a document: attributes, relationships, links and meta kept apart.
///
/// A resource identifier is a resource without attributes and relationships.
public struct JSONAPIResource: Hashable, Sendable {
    /// The resource's type.
    public var type: String
    /// The id; nil for a resource that the server has still to name.
    public var id: String?
    /// A local id, by which other resources of the same request can point here.
    public var lid: String?
    /// The attributes by their names in the document.
    public var attributes: JSONObject
    /// The relationships by their names in the document.
    public var relationships: JSONAPIRelationships
    /// The resource's links: `self`, for example.
    public var links: JSONAPILinks
    /// What is said of the resource beside its fields.
    public var meta: JSONObject?
    /// Members of extensions, by their whole names.
    public var extensionMembers: JSONObject

    /// A resource; the parameters are the properties of the same names. It is not checked, see ``JSONAPIDocument/violations(as:)``.
    public init(
        type: String, id: String? = nil, lid: String? = nil, attributes: JSONObject = [:],
        relationships: JSONAPIRelationships = JSONAPIRelationships(), links: JSONAPILinks = JSONAPILinks(), meta: JSONObject? = nil
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

    /// What identifies the resource; nil while it has neither an id nor a local one.
    public var identifier: JSONAPIIdentifier? {
        guard id != nil || lid != nil else { return nil }
        return JSONAPIIdentifier(type: type, id: id, lid: lid)
    }
}

extension JSONAPIResource {
    /// A resource as it stands in a document.
    ///
    /// Members the specification does not know are left out, and so are those that hold another kind of value than they must.
    /// - Throws: ``JSONAPIError`` where it is no object, or has no `type`.
    init(reading json: JSONValue, at pointer: @autoclosure () -> JSONPointer) throws(JSONAPIError) {
        guard case .object(let object) = json else { throw JSONAPIError(pointer(), "A resource must be an object") }
        guard case .string(let type)? = object["type"] else {
            throw JSONAPIError(pointer().appending("type"), "A resource must have a 'type' that is a string")
        }
        self.init(type: type)
        for (name, value) in object {
            switch name {
            case "id": id = Self.identifierText(value)
            case "lid": lid = value.string
            case "attributes": if case .object(let object) = value { attributes = object }
            case "relationships": if case .object(let object) = value { relationships = JSONAPIRelationships(object) }
            case "links": if case .object(let object) = value { links = JSONAPILinks(object) }
            case "meta": if case .object(let object) = value { meta = object }
            case "type": break
            default: if MemberName.isExtension(name) { extensionMembers[name] = value }
            }
        }
    }

    /// An id as text. Ids must be strings; many a server writes integers, which are no less clear.
    static func identifierText(_ json: JSONValue) -> String? {
        switch json {
        case .string(let text): text
        case .integer(let integer): String(integer)
        default: nil
        }
    }

    /// The resource as it stands in a document; empty members are left out.
    public var json: JSONValue {
        var json: JSONObject = ["type": .string(type)]
        if let id { json["id"] = .string(id) }
        if let lid { json["lid"] = .string(lid) }
        if !attributes.isEmpty { json["attributes"] = .object(attributes) }
        if !relationships.isEmpty { json["relationships"] = .object(relationships.json) }
        if !links.isEmpty { json["links"] = .object(links.json) }
        if let meta { json["meta"] = .object(meta) }
        for (name, value) in extensionMembers { json[name] = value }
        return .object(json)
    }
}
