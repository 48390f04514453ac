import FeathersCore
import FeathersNetworking
import FeathersREST
import FeathersSupport
import Foundation

/// An HTTP request, and what is needed to read its response.
struct JSONAPIExchange {
    enum Expectation {
        /// Resources, with the requested page.
        case collection(limit: Int?, skip: Int?)
        /// One resource, which must exist.
        case resource
        /// The resource after a change, or the sent record if the server sends none.
        case change(sent: JSONObject)
        /// The targets of a relationship: one resource, several, or none.
        case related
        /// The results of a batch in its order, or the sent records where the server sends none.
        case batch(sent: [JSONObject])
        /// A document, or an empty object if the server sends none.
        case document
    }

    var request: HTTPRequest
    var expectation: Expectation
    /// The requested paths of included resources, as sent; nil leaves it to the server.
    var include: [String]?
    /// The result of a call that needs no request: a search for no ids, or a batch without operations, which must have at least one (Atomic
    /// Operations, "Document Structure").
    var knownResult: JSONValue?
}

/// Makes HTTP requests of service requests.
///
/// Everything here fails before anything is sent.
struct JSONAPIRequestBuilder: Sendable {
    static let atomicExtension = "https://jsonapi.org/ext/atomic"

    let base: RESTBaseURL
    let headers: [String: String]
    let timeout: Duration?
    let codec: JSONAPICodec
    let options: JSONAPIOptions
    let maximumResponseBytes: Int

    func exchange(for request: ServiceRequest) throws -> JSONAPIExchange {
        if let method = JSONAPIMethod(request.method) { return try exchange(for: request, method) }
        switch request.method {
        case .find:
            let query = request.params.query
            func count(_ name: String) -> Int? { query.json[name]?.integer.flatMap { Int(exactly: $0) } }
            var found = try exchange(request, "GET", try url(of: request), .collection(limit: count("$limit"), skip: count("$skip")))
            if query.json["id"]?["$in"]?.array?.isEmpty == true { found.knownResult = ["total": 0, "data": []] }
            return found
        case .get:
            guard let id = request.id else { throw FeathersError.refused("id for 'get' can not be undefined") }
            return try exchange(request, "GET", url(of: request, id.description), .resource)
        case .create: return try creation(request)
        case .patch: return try change(request)
        case .remove: return try removal(request)
        case .update: throw Self.notAllowed("JSON:API has no method that replaces a resource as a whole: use 'patch'")
        case .custom(let name): throw Self.notAllowed("JSON:API has no method '\(name)'")
        }
    }

    private static func notAllowed(_ message: String) -> FeathersError {
        FeathersError(.methodNotAllowed, message, execution: .neverSent)
    }

    /// Assembles a request: media types, header fields, body, and query parameters.
    private func exchange(
        _ request: ServiceRequest, _ method: String, _ url: String, _ expectation: JSONAPIExchange.Expectation,
        body: JSONAPIDocument? = nil, as role: JSONAPIDocument.Role = .response, extensions: [String] = []
    ) throws -> JSONAPIExchange {
        var text = url
        let query = request.params.query
        if query.json["$link"] == nil {
            let items = try QueryItems(options: options, keys: codec.keys).items(of: query, type: options.type(ofPath: request.path))
            if !items.isEmpty { text += (text.contains("?") ? "&" : "?") + items.map(\.encoded).joined(separator: "&") }
        }
        guard let target = URL(string: text), target.absoluteString == text else {
            throw FeathersError.refused("The path '\(request.path)' does not make a valid URL")
        }
        var bytes: [UInt8]?
        do throws(JSONAPIError) {
            bytes = try body?.serialized(as: role)
        } catch {
            throw FeathersError(.badRequest, "The data make no JSON:API document: \(error)", execution: .neverSent, cause: error)
        }
        let http = HTTPRequest(
            method: method, url: target, headers: try fields(for: request, hasBody: bytes != nil, extensions: extensions), body: bytes,
            timeout: request.params.timeout ?? timeout, maximumResponseBytes: maximumResponseBytes)
        let include = query.json["$include"]?.array?.compactMap { $0.string.map(codec.keys.wirePath) }
        return JSONAPIExchange(request: http, expectation: expectation, include: include)
    }

    /// The URL of a service, of a resource, or of a path below one; or that of a server's link.
    private func url(of request: ServiceRequest, _ below: String...) throws -> String {
        if let link = request.params.query.json["$link"]?.string { return try checked(link: link) }
        var text = try base.text()
        try RESTPath.append(request.path, route: request.params.route, to: &text)
        for segment in below { try RESTPath.append(ServiceID(segment), to: &text) }
        return text
    }

    /// Resolves a server's link. A link to another origin is rejected, since header fields may be secret.
    private func checked(link: String) throws -> String {
        guard let base = URL(string: try base.text() + "/"), let url = URL(link: link, relativeTo: base), url.isRequestable
        else {
            throw FeathersError.refused("The link is no http or https URL")
        }
        guard Origin(url) == Origin(base) else {
            throw FeathersError.refused(
                "The link leads to \(url.hostAndPort ?? "another host"), away from \(base.hostAndPort ?? "the base URL")")
        }
        return url.absoluteString
    }

    /// The header fields: Accept, then the app's, then the body's, then the call's. Later ones win, and case doesn't matter.
    private func fields(for request: ServiceRequest, hasBody: Bool, extensions: [String]) throws(FeathersError) -> HTTPHeaders {
        let mediaType = JSONAPIMediaType(extensions: options.extensions + extensions, profiles: options.profiles)
        var fields = HTTPHeaders()
        do {
            try fields.set("Accept", to: mediaType.accept)
            try fields.merge(headers)
            if hasBody { try fields.set("Content-Type", to: mediaType.contentType) }
            if let held = request.params.heldAnswer { try fields.set("If-None-Match", to: held.entityTag) }
            try fields.merge(request.params.headers(for: base.origin))
        } catch {
            throw FeathersError(error)
        }
        return fields
    }
}

// MARK: Changes of resources and relationships

extension JSONAPIRequestBuilder {
    private func creation(_ request: ServiceRequest) throws -> JSONAPIExchange {
        let isBatch = request.data?.array != nil
        if isBatch { try checkOperationsPath("'create' of several records") }
        let created = try (request.data?.array ?? [request.data ?? .null]).map { data in
            var resource = try resource(of: data, request)
            if resource.id == nil { resource.id = options.makeID?(resource.type) }
            return (resource, sent: sentRecord(data, resource.type, resource.id))
        }
        if isBatch { return try batch(created.map { .add($0.0) }, request, sent: created.map(\.sent)) }
        return try exchange(
            request, "POST", url(of: request), .change(sent: created[0].sent), body: JSONAPIDocument(data: .one(created[0].0)),
            as: .creation)
    }

    private func change(_ request: ServiceRequest) throws -> JSONAPIExchange {
        let targets = request.id == nil ? try targets(of: request) : []
        var resource = try resource(of: request.data, request)
        resource.lid = nil
        guard let id = request.id?.description else {
            let operations = targets.map { target in
                resource.id = target.id
                return JSONAPIOperation.update(resource)
            }
            return try batch(operations, request, sent: targets.map { sentRecord(request.data, $0.type, $0.id) })
        }
        resource.id = id
        return try exchange(
            request, "PATCH", url(of: request, id), .change(sent: sentRecord(request.data, resource.type, id)),
            body: JSONAPIDocument(data: .one(resource)), as: .update)
    }

    private func removal(_ request: ServiceRequest) throws -> JSONAPIExchange {
        guard let id = request.id?.description else {
            let targets = try targets(of: request)
            return try batch(targets.map(JSONAPIOperation.remove), request, sent: targets.map { sentRecord(nil, $0.type, $0.id) })
        }
        let sent: JSONObject = ["id": .string(id), "type": .string(options.type(ofPath: request.path))]
        return try exchange(request, "DELETE", url(of: request, id), .change(sent: sent))
    }

    /// The record that stands in for the result if the server sends none.
    private func sentRecord(_ data: JSONValue?, _ type: String, _ id: String?) -> JSONObject {
        var sent = data?.object ?? [:]
        sent["type"] = .string(type)
        if let id { sent["id"] = .string(id) }
        return sent
    }

    /// The resource of a record without the parts that only servers send: links, meta of relationships, relationships without data.
    private func resource(of data: JSONValue?, _ request: ServiceRequest) throws -> JSONAPIResource {
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

    private func exchange(for request: ServiceRequest, _ method: JSONAPIMethod) throws -> JSONAPIExchange {
        if method == .runOperations {
            guard let operations = request.data?["operations"]?.array else {
                throw FeathersError.refused("The data must hold 'operations'")
            }
            return try batch(operations, request, sent: Array(repeating: [:], count: operations.count))
        }
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

// MARK: Batches of the Atomic Operations extension

extension JSONAPIRequestBuilder {
    /// The resources of a multi operation. JSON:API changes nothing by a condition, so the ids must be named.
    private func targets(of request: ServiceRequest) throws -> [JSONAPIIdentifier] {
        try checkOperationsPath("'\(request.method)' of several records")
        let query = request.params.query.json
        let values = query["id"]?["$in"]?.array
        let ids = values?.compactMap(\.identifierText)
        guard query.count == 1, let ids, ids.count == values?.count else {
            throw Self.notAllowed(
                "JSON:API has no '\(request.method)' by a condition: name the records, '.where(\"id\", .isIn(ids))', and nothing else")
        }
        return ids.map { JSONAPIIdentifier(type: options.type(ofPath: request.path), id: $0) }
    }

    @discardableResult
    private func checkOperationsPath(_ what: String) throws(FeathersError) -> String {
        if let path = options.operationsPath { return path }
        throw Self.notAllowed("\(what) needs the Atomic Operations extension: set 'operationsPath' where the server has it")
    }

    private func batch(_ operations: [JSONAPIOperation], _ request: ServiceRequest, sent: [JSONObject]) throws -> JSONAPIExchange {
        try batch(operations.map(\.json), request, sent: sent)
    }

    /// - Parameter sent: the records that stand in for results that the server doesn't send.
    private func batch(_ operations: [JSONValue], _ request: ServiceRequest, sent: [JSONObject]) throws -> JSONAPIExchange {
        let path = try checkOperationsPath("A batch of operations")
        var request = request
        // The query of a multi operation names its targets, which the operations contain.
        request.params.query = Query()
        var text = try base.text()
        try RESTPath.append(path, route: [:], to: &text)
        let document = JSONAPIDocument(extensionMembers: ["atomic:operations": .array(operations)])
        var batch = try exchange(
            request, "POST", text, .batch(sent: sent), body: operations.isEmpty ? nil : document, extensions: [Self.atomicExtension])
        if operations.isEmpty { batch.knownResult = [] }
        return batch
    }
}
