public import FeathersCore

/// What a relationship holds: nothing, one resource, or several.
public enum JSONAPILinkage: Hashable, Sendable {
    /// An empty to-one relationship.
    case null
    /// The target of a to-one relationship.
    case one(JSONAPIIdentifier)
    /// The targets of a to-many relationship, which may be none.
    case many([JSONAPIIdentifier])

    /// The targets, in their order.
    public var identifiers: [JSONAPIIdentifier] {
        switch self {
        case .null: []
        case .one(let identifier): [identifier]
        case .many(let identifiers): identifiers
        }
    }

    /// The linkage of a `data` member; elements that are no identifiers are left out.
    init?(reading json: JSONValue) {
        switch json {
        case .null: self = .null
        case .array(let elements): self = .many(elements.compactMap(JSONAPIIdentifier.init(reading:)))
        default:
            guard let identifier = JSONAPIIdentifier(reading: json) else { return nil }
            self = .one(identifier)
        }
    }

    /// The linkage as it stands in a document.
    public var json: JSONValue {
        switch self {
        case .null: .null
        case .one(let identifier): identifier.json
        case .many(let identifiers): .array(identifiers.map(\.json))
        }
    }
}

/// A relationship of a resource.
public struct JSONAPIRelationship: Hashable, Sendable {
    /// What the relationship holds; nil where the document does not say, which is not the same as ``JSONAPILinkage/null``.
    public var linkage: JSONAPILinkage?
    /// `self` for the relationship, `related` for what it leads to.
    public var links: JSONAPILinks
    /// What the server says of the relationship.
    public var meta: JSONObject?
    /// Members of extensions, by their whole names.
    public var extensionMembers: JSONObject

    /// A relationship; the parameters are the properties of the same names.
    public init(_ linkage: JSONAPILinkage? = nil, links: JSONAPILinks = JSONAPILinks(), meta: JSONObject? = nil) {
        self.linkage = linkage
        self.links = links
        self.meta = meta
        extensionMembers = [:]
    }

    init(reading json: JSONObject) {
        self.init(
            json["data"].flatMap(JSONAPILinkage.init(reading:)), links: JSONAPILinks(json["links"]?.object ?? [:]),
            meta: json["meta"]?.object)
        for (name, value) in json where MemberName.isExtension(name) { extensionMembers[name] = value }
    }

    /// The relationship as it stands in a document.
    public var json: JSONValue {
        var json: JSONObject = [:]
        if let linkage { json["data"] = linkage.json }
        if !links.isEmpty { json["links"] = .object(links.json) }
        if let meta { json["meta"] = .object(meta) }
        for (name, value) in extensionMembers { json[name] = value }
        return .object(json)
    }
}

/// The relationships of a resource by their names, in the document's order.
public struct JSONAPIRelationships: Hashable, Sendable {
    /// The relationships as they stand in the document; each is read when it is asked for.
    public var json: JSONObject

    /// Relationships by their names, as they stand in a document.
    public init(_ json: JSONObject = [:]) {
        self.json = json
    }

    /// Whether there is none.
    public var isEmpty: Bool { json.isEmpty }

    /// The names, in their order.
    public var names: [String] { json.keys }

    /// A relationship by its name; nil where there is none, or where what stands there is no object.
    public subscript(name: String) -> JSONAPIRelationship? {
        get { json[name]?.object.map(JSONAPIRelationship.init(reading:)) }
        set { json[name] = newValue?.json }
    }
}

extension JSONAPIRelationships: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, JSONAPIRelationship)...) {
        json = [:]
        for (name, relationship) in elements { json[name] = relationship.json }
    }
}
