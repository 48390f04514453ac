import FeathersCore
import FeathersNetworking
import Foundation

/// Requests that change resources and relationships.
extension JSONAPIRequestBuilder {
    func creation(_ request: ServiceRequest) throws -> JSONAPIExchange {
        if let records = request.data?.array { return try creations(records, request) }
        let resource = try newResource(request.data, request)
        var sent = request.data?.object ?? [:]
        sent["type"] = .string(resource.type)
        if let id = resource.id { sent["id"] = .string(id) }
        return try exchange(
            request, "POST", url(of: request), .change(sent: sent), body: JSONAPIDocument(data: .one(resource)), as: .creation)
    }

    func change(_ request: ServiceRequest) throws -> JSONAPIExchange {
        guard let id = request.id else { return try changes(request) }
        var resource = try sendable(request.data, request)
        resource.id = id.description
        resource.lid = nil
        var sent = request.data?.object ?? [:]
        sent["type"] = .string(resource.type)
        sent["id"] = .string(id.description)
        return try exchange(
            request, "PATCH", url(of: request, id.description), .change(sent: sent), body: JSONAPIDocument(data: .one(resource)),
            as: .update)
    }

    func newResource(_ data: JSONValue?, _ request: ServiceRequest) throws -> JSONAPIResource {
        var resource = try sendable(data, request)
        if resource.id == nil { resource.id = options.makeID?(resource.type) }
        return resource
    }

    /// The resource of a record without what only servers say: links, meta of relationships, relationships without data.
    func sendable(_ data: JSONValue?, _ request: ServiceRequest) throws -> JSONAPIResource {
        guard let record = data?.object else { throw FeathersError.refused("The data of '\(request.method)' must be an object") }
        let type = options.type(ofPath: request.path)
        var resource: JSONAPIResource
        do throws(JSONAPIError) {
            let names = options.relationships[record["type"]?.string ?? type] ?? []
            resource = try codec.resource(ofRecord: record, type: type, relationships: names)
        } catch {
            throw FeathersError(.badRequest, "The data make no resource: \(error)", execution: .neverSent, cause: error)
        }
        resource.links = JSONAPILinks()
        for name in resource.relationships.names {
            resource.relationships[name] = resource.relationships[name]?.linkage.map { JSONAPIRelationship($0) }
        }
        return resource
    }

    func exchange(for request: ServiceRequest, _ method: JSONAPIMethod) throws -> JSONAPIExchange {
        if method == .runOperations { return try operations(request) }
        let call = try RelationshipCall(request.data)
        if method == .getRelated {
            return try exchange(request, "GET", call.link.map(checked) ?? url(of: request, call.id, call.name), .related)
        }
        let target = try call.link.map(checked) ?? url(of: request, call.id, "relationships", call.name)
        guard method != .getRelationship else { return try exchange(request, "GET", target, .document) }
        guard let linkage = call.linkage else { throw FeathersError.refused("The data must say what the relationship is to hold") }
        let verb =
            switch method {
            case .addToRelationship: "POST"
            case .removeFromRelationship: "DELETE"
            default: "PATCH"
            }
        return try exchange(request, verb, target, .document, body: JSONAPIDocument(linkage: linkage), as: .relationship)
    }
}

extension JSONAPIDocument {
    /// The document that says what a relationship holds.
    init(linkage: JSONAPILinkage) {
        switch linkage {
        case .null: self.init(data: .null)
        case .one(let identifier): self.init(data: .one(JSONAPIResource(identifier)))
        case .many(let identifiers): self.init(data: .many(identifiers.map(JSONAPIResource.init)))
        }
    }
}
