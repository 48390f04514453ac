public import FeathersCore
import Foundation

/// A relationship of one resource on the server: what it holds, and changes of that alone.
///
/// Every call is one of the service's, goes through its hooks and throws what those throw.
public struct JSONAPIRelationshipService: Sendable {
    private let service: Service
    private let id: String
    private let name: String
    private let links: JSONAPILinks
    private let codec: JSONAPICodec

    init(service: Service, id: String, name: String, links: JSONAPILinks = JSONAPILinks(), codec: JSONAPICodec) {
        self.service = service
        self.id = id
        self.name = name
        self.links = links
        self.codec = codec
    }

    /// Reads what the relationship holds.
    public func get(params: Params = Params()) async throws -> JSONAPIRelationship {
        try await relationship(call(.getRelationship, nil, params))
    }

    /// Makes the relationship lead to a resource, or to nothing.
    @discardableResult
    public func replace(with identifier: JSONAPIIdentifier?, params: Params = Params()) async throws -> JSONAPIRelationship {
        try await change(.replaceRelationship, identifier.map(JSONAPILinkage.one) ?? .null, params)
    }

    /// Makes the relationship lead to these resources; an empty array empties it.
    @discardableResult
    public func replace(with identifiers: [JSONAPIIdentifier], params: Params = Params()) async throws -> JSONAPIRelationship {
        try await change(.replaceRelationship, .many(identifiers), params)
    }

    /// Adds resources to those the relationship leads to; those it leads to already stay.
    @discardableResult
    public func add(_ identifiers: [JSONAPIIdentifier], params: Params = Params()) async throws -> JSONAPIRelationship {
        try await change(.addToRelationship, .many(identifiers), params)
    }

    /// Removes resources from those the relationship leads to.
    @discardableResult
    public func remove(_ identifiers: [JSONAPIIdentifier], params: Params = Params()) async throws -> JSONAPIRelationship {
        try await change(.removeFromRelationship, .many(identifiers), params)
    }

    /// Reads the resource the relationship leads to; nil where there is none.
    public func related<Model: JSONAPIRelatable>(
        _ type: Model.Type = Model.self, _ query: Query = Query(), params: Params = Params()
    ) async throws -> Model? {
        let json = try await related(query, params)
        return json.isNull ? nil : try decode(json)
    }

    /// Reads the resources the relationship leads to: those of the answer's first page.
    public func relatedList<Model: JSONAPIRelatable>(
        of type: Model.Type = Model.self, _ query: Query = Query(), params: Params = Params()
    ) async throws -> [Model] {
        try await Paginated(json: related(query, params)).data.map(decode)
    }

    private func related(_ query: Query, _ params: Params) async throws -> JSONValue {
        try await service.call(
            JSONAPIMethod.getRelated.serviceMethod, with: RelationshipCall(id: id, name: name, link: links["related"]?.href).json, query,
            params: params)
    }

    private func change(_ method: JSONAPIMethod, _ linkage: JSONAPILinkage, _ params: Params) async throws -> JSONAPIRelationship {
        var relationship = try await relationship(call(method, linkage, params))
        // 204, or meta alone: the server did what was asked. What was added or removed says nothing of the rest.
        if relationship.linkage == nil, method == .replaceRelationship { relationship.linkage = linkage }
        return relationship
    }

    private func call(_ method: JSONAPIMethod, _ linkage: JSONAPILinkage?, _ params: Params) async throws -> JSONValue {
        try await service.call(
            method.serviceMethod, with: RelationshipCall(id: id, name: name, link: links["self"]?.href, linkage: linkage).json,
            params: params)
    }

    private func relationship(_ json: JSONValue) -> JSONAPIRelationship {
        JSONAPIRelationship(reading: json.object ?? [:])
    }

    private func decode<Model: JSONAPIRelatable>(_ json: JSONValue) throws -> Model {
        do {
            return try codec.decode(Model.self, from: json)
        } catch let error as JSONAPIError {
            throw FeathersError(.generalError, "A target of the relationship '\(name)' is no \(Model.self): \(error)", cause: error)
        }
    }
}

extension JSONAPIService {
    /// A relationship of a resource.
    /// - Parameters:
    ///   - property: the relationship's name, as a property has it.
    ///   - id: the resource's id.
    ///   - links: the relationship's links where the server has said them; paths after the specification otherwise.
    public func relationship(
        _ property: String, ofID id: some ServiceIDConvertible, links: JSONAPILinks = JSONAPILinks()
    ) -> JSONAPIRelationshipService {
        JSONAPIRelationshipService(
            service: untyped, id: id.serviceID.description, name: codec.keys.wireName(of: property), links: links, codec: codec)
    }

    /// The target of a to-one relationship: the one that came along, else read from the server; nil where there is none.
    /// - Parameters:
    ///   - property: the relationship's name, as a property has it.
    ///   - relationship: the property's value.
    ///   - model: the resource that has it.
    ///   - params: what goes with the call, if one is made.
    public func load<Target>(
        _ property: String, _ relationship: ToOne<Target>, of model: Model, params: Params = Params()
    ) async throws -> Target? {
        if relationship.isLoaded { return relationship.value }
        return try await self.relationship(property, ofID: id(of: model), links: relationship.links).related(Target.self, params: params)
    }

    /// The targets of a to-many relationship: those that came along if none is missing, else read from the server.
    /// - Parameters:
    ///   - property: the relationship's name, as a property has it.
    ///   - relationship: the property's value.
    ///   - model: the resource that has it.
    ///   - params: what goes with the call, if one is made.
    public func load<Target>(
        _ property: String, _ relationship: ToMany<Target>, of model: Model, params: Params = Params()
    ) async throws -> [Target] {
        if relationship.isLoaded { return relationship.values }
        return try await self.relationship(property, ofID: id(of: model), links: relationship.links).relatedList(params: params)
    }

    private func id(of model: Model) throws(FeathersError) -> String {
        guard let id = model.id.jsonAPIText else {
            throw FeathersError(.badRequest, "A \(Model.self) without an id has no relationships to read", execution: .neverSent)
        }
        return id
    }
}
