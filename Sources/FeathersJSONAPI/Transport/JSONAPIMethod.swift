public import FeathersCore
import FeathersNetworking

/// What JSON:API can do that Feathers has no method for, as custom methods: so it goes through hooks like any other call.
enum JSONAPIMethod: String {
    /// Reads what a relationship holds.
    case getRelationship
    /// Makes a relationship hold something else.
    case replaceRelationship
    /// Adds targets to a to-many relationship.
    case addToRelationship
    /// Removes targets from a to-many relationship.
    case removeFromRelationship
    /// Reads the targets of a relationship themselves.
    case getRelated
    /// Carries out a batch of operations, all or none.
    case runOperations

    var serviceMethod: ServiceMethod { .custom(rawValue) }

    init?(_ method: ServiceMethod) {
        guard case .custom(let name) = method, let known = JSONAPIMethod(rawValue: name) else { return nil }
        self = known
    }
}

extension Set<ServiceMethod> {
    /// The methods that change what relationships hold: for a cache, which is told of methods that change records.
    public static let changingRelationships = Set(
        [JSONAPIMethod.replaceRelationship, .addToRelationship, .removeFromRelationship].map(\.serviceMethod))
}

/// The data of the methods that are about a relationship.
struct RelationshipCall {
    var id: String
    /// The relationship's name as it stands in documents.
    var name: String
    /// Where the server said it is; nil for the path the specification recommends.
    var link: String?
    /// What is sent.
    var linkage: JSONAPILinkage?

    var json: JSONValue {
        var json: JSONObject = ["id": .string(id), "relationship": .string(name)]
        if let link { json["link"] = .string(link) }
        if let linkage { json["data"] = linkage.json }
        return .object(json)
    }

    init(id: String, name: String, link: String? = nil, linkage: JSONAPILinkage? = nil) {
        self.id = id
        self.name = name
        self.link = link
        self.linkage = linkage
    }

    init(_ json: JSONValue?) throws(FeathersError) {
        guard let id = json?["id"]?.string, let name = json?["relationship"]?.string else {
            throw .refused("The data must hold an 'id' and the name of a 'relationship'")
        }
        self.init(id: id, name: name, link: json?["link"]?.string, linkage: json?["data"].flatMap(JSONAPILinkage.init(reading:)))
    }
}
