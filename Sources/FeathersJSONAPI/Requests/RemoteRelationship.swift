public import FeathersCore
import FeathersNetworking
import FeathersREST

/// A relationship of one resource on the server. Reads and changes the contents of only that relationship.
///
/// Every call is a call of the path's service, so it runs through that service's hooks and throws its errors.
public struct RemoteRelationship: Sendable {
    fileprivate let service: Service<JSONValue>
    fileprivate let id: String
    fileprivate let name: String
    fileprivate let links: JSONAPILinks
    fileprivate let codec: JSONAPICodec

    /// Reads the contents of the relationship.
    public func get(params: Params = Params()) async throws -> JSONAPIRelationship {
        try await call(.getRelationship, params: params)
    }

    /// Sets the target of the relationship to a resource, or empties it.
    @discardableResult
    public func replace(with identifier: JSONAPIIdentifier?, params: Params = Params()) async throws
        -> JSONAPIRelationship
    {
        try await replace(with: identifier.map(JSONAPILinkage.one) ?? .null, params)
    }

    /// Sets the targets of the relationship to these resources; an empty array empties it.
    @discardableResult
    public func replace(with identifiers: [JSONAPIIdentifier], params: Params = Params()) async throws
        -> JSONAPIRelationship
    {
        try await replace(with: .many(identifiers), params)
    }

    /// Adds resources to the relationship. Existing targets stay.
    @discardableResult
    public func add(_ identifiers: [JSONAPIIdentifier], params: Params = Params()) async throws -> JSONAPIRelationship {
        try await call(.addToRelationship, .many(identifiers), params: params)
    }

    /// Removes resources from the relationship.
    @discardableResult
    public func remove(_ identifiers: [JSONAPIIdentifier], params: Params = Params()) async throws
        -> JSONAPIRelationship
    {
        try await call(.removeFromRelationship, .many(identifiers), params: params)
    }

    /// Reads the target of the relationship; nil if the relationship is empty.
    public func related<Model: JSONAPIRelatable>(
        _ type: Model.Type = Model.self, query: Query<JSONValue> = Query(), params: Params = Params()
    ) async throws -> Model? {
        let response = try await related(query, params)
        if let model = response.receivedDocument?.decode(type, with: codec) { return model }
        return response.result.isNull ? nil : try decode(response.result)
    }

    /// Reads the targets of the relationship from the response's first page.
    public func relatedList<Model: JSONAPIRelatable>(
        of type: Model.Type = Model.self, query: Query<JSONValue> = Query(), params: Params = Params()
    ) async throws -> [Model] {
        let response = try await related(query, params)
        return try response.receivedDocument?.decodeList(of: type, with: codec)
            ?? Page(json: response.result).data.map(decode)
    }

    private func related(_ query: Query<JSONValue>, _ params: Params) async throws -> ServiceResponse {
        let call = RelationshipCall(id: id, name: name, link: links["related"]?.href)
        return try await service.response(
            to: JSONAPIMethod.getRelated.serviceMethod, data: call.json, query: query, params: params)
    }

    private func replace(with linkage: JSONAPILinkage, _ params: Params) async throws -> JSONAPIRelationship {
        var relationship = try await call(.replaceRelationship, linkage, params: params)
        // After a 204, or a document with only meta, the contents are those that were sent. After additions and
        // removals they stay unknown.
        if relationship.linkage == nil { relationship.linkage = linkage }
        return relationship
    }

    private func call(_ method: JSONAPIMethod, _ linkage: JSONAPILinkage? = nil, params: Params) async throws
        -> JSONAPIRelationship
    {
        let call = RelationshipCall(id: id, name: name, link: links["self"]?.href, linkage: linkage)
        let json = try await service.call(method.serviceMethod, with: call.json, params: params)
        return JSONAPIRelationship(reading: json.object ?? [:])
    }

    private func decode<Model: JSONAPIRelatable>(_ json: JSONValue) throws -> Model {
        try codec.decode(json, as: "A target of the relationship '\(name)'")
    }
}

extension JSONAPIService {
    /// Returns the relationship of a property, for the resource with an id.
    ///
    /// If the server has sent the relationship's links, calls follow them. Otherwise, they use the paths that the
    /// specification recommends. Calls fail for an id that is nil or empty.
    public func relationship(
        _ property: String, ofID id: some ServiceIDConvertible, links: JSONAPILinks = JSONAPILinks()
    ) -> RemoteRelationship {
        // An empty id makes the call fail, because this method cannot throw.
        let id = (try? id.serviceID)?.description ?? ""
        return RemoteRelationship(
            service: service, id: id, name: codec.keys.wireName(of: property), links: links, codec: codec)
    }

    /// Returns the target of a to-one relationship: the included one, or one read from the server; nil if the
    /// relationship is empty.
    public func load<Target>(
        _ property: String, _ relationship: ToOne<Target>, of model: Model, params: Params = Params()
    ) async throws -> Target? {
        if relationship.isLoaded { return relationship.value }
        return try await self.relationship(property, ofID: id(of: model), links: relationship.links).related(
            params: params)
    }

    /// Returns the targets of a to-many relationship: the included ones if none is missing, otherwise those read from
    /// the server.
    public func load<Target>(
        _ property: String, _ relationship: ToMany<Target>, of model: Model, params: Params = Params()
    ) async throws -> [Target] {
        if relationship.isLoaded { return relationship.values }
        return try await self.relationship(property, ofID: id(of: model), links: relationship.links).relatedList(
            params: params)
    }

    private func id(of model: Model) throws(FeathersError) -> String {
        guard let id = model.id.jsonAPIText else {
            throw FeathersError(
                .badRequest, "The relationships of a \(Model.self) without an id cannot be read", execution: .neverSent)
        }
        return id
    }
}

// MARK: Custom methods

/// The JSON:API operations without a Feathers method. They are custom methods, so they run through hooks like any other
/// call.
enum JSONAPIMethod: String {
    case getRelationship
    case replaceRelationship
    case addToRelationship
    case removeFromRelationship
    /// The method that reads the targets of a relationship.
    case getRelated
    case runOperations

    var serviceMethod: ServiceMethod { .custom(rawValue) }

    init?(_ method: ServiceMethod) {
        guard case .custom(let name) = method else { return nil }
        self.init(rawValue: name)
    }
}

extension Set<ServiceMethod> {
    /// The methods that change relationships. Pass them to a cache, which needs to know which methods change records.
    public static let changingRelationships = Set(
        [JSONAPIMethod.replaceRelationship, .addToRelationship, .removeFromRelationship].map(\.serviceMethod))
}

struct RelationshipCall {
    var id: String
    /// The relationship's name in documents.
    var name: String
    /// The link sent by the server; nil to use the path that the specification recommends.
    var link: String?
    var linkage: JSONAPILinkage?

    var json: JSONValue {
        var json: JSONObject = ["id": .string(id), "relationship": .string(name)]
        json["link"] = link.map(JSONValue.string)
        json["data"] = linkage?.json
        return .object(json)
    }
}

extension RelationshipCall {
    init(_ json: JSONValue?) throws(FeathersError) {
        guard let id = json?["id"]?.string, let name = json?["relationship"]?.string else {
            throw .refused("The data must contain an 'id' and the name of a 'relationship'")
        }
        self.init(
            id: id, name: name, link: json?["link"]?.string,
            linkage: json?["data"].flatMap(JSONAPILinkage.init(reading:)))
    }
}
