public import FeathersCore

/// The contents of a relationship: empty, one resource, or several.
public enum JSONAPILinkage: Hashable, Sendable {
    /// An empty to-one relationship.
    case null
    /// The target of a to-one relationship.
    case one(JSONAPIIdentifier)
    /// The targets of a to-many relationship, which may be empty.
    case many([JSONAPIIdentifier])

    /// The targets in document order.
    public var identifiers: [JSONAPIIdentifier] {
        switch self {
        case .null: []
        case .one(let identifier): [identifier]
        case .many(let identifiers): identifiers
        }
    }

    /// Reads the linkage of a `data` member, ignoring elements that are not identifiers.
    init?(reading json: JSONValue) {
        switch json {
        case .null: self = .null
        case .array(let elements): self = .many(elements.compactMap(JSONAPIIdentifier.init(reading:)))
        default:
            guard let identifier = JSONAPIIdentifier(reading: json) else { return nil }
            self = .one(identifier)
        }
    }

    /// The linkage as JSON.
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
    /// The contents of the relationship; nil if the document does not state them, which differs from
    /// ``JSONAPILinkage/null``.
    public var linkage: JSONAPILinkage?
    /// The relationship's links: `self` for the relationship, `related` for its targets.
    public var links: JSONAPILinks
    /// The metadata of the relationship.
    public var meta: JSONObject?
    /// The members of extensions, by their full names.
    public var extensionMembers: JSONObject

    /// Creates a relationship.
    public init(_ linkage: JSONAPILinkage? = nil, links: JSONAPILinks = JSONAPILinks(), meta: JSONObject? = nil) {
        self.linkage = linkage
        self.links = links
        self.meta = meta
        extensionMembers = [:]
    }

    init(reading json: JSONObject) {
        self.init(
            json["data"].flatMap(JSONAPILinkage.init(reading:)), links: JSONAPILinks(reading: json["links"]),
            meta: json["meta"]?.object)
        for (name, value) in json where MemberName.isExtension(name) { extensionMembers[name] = value }
    }

    /// The relationship as JSON.
    public var json: JSONValue {
        var json: JSONObject = [:]
        json["data"] = linkage?.json
        json.set(links, meta, extensionMembers)
        return .object(json)
    }
}

/// The relationships of a resource, by name, in document order.
public struct JSONAPIRelationships: Hashable, Sendable {
    /// The relationships as JSON; each is read on access.
    public var json: JSONObject

    /// Creates relationships from their JSON.
    public init(_ json: JSONObject = [:]) { self.json = json }

    /// Whether there are no relationships.
    public var isEmpty: Bool { json.isEmpty }
    /// The names in document order.
    public var names: [String] { json.keys }

    /// The relationship with a name; nil if it does not exist or its value is not an object.
    public subscript(name: String) -> JSONAPIRelationship? {
        get { json[name]?.object.map(JSONAPIRelationship.init(reading:)) }
        set { json[name] = newValue?.json }
    }
}

extension JSONAPIRelationships: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, JSONAPIRelationship)...) {
        self.init(JSONObject(elements.map { ($0, $1.json) }))
    }
}
