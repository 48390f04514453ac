import FeathersCore
import FeathersNetworking
import FeathersREST
import FeathersSupport
import Foundation

/// An HTTP request, and the information needed to read its response.
struct JSONAPIExchange {
    enum Expectation {
        /// Resources, with the requested page.
        case collection(limit: Int?, skip: Int?)
        /// One resource, which must exist.
        case resource
        /// The resource after a change, or the sent record if the server does not return one.
        case change(sent: JSONObject)
        /// The targets of a relationship: one resource, several, or none.
        case related
        /// The results of a batch in its order, with the sent records in place of results that the server does not
        /// return.
        case batch(sent: [JSONObject])
        /// A document, or an empty object if the server does not return one.
        case document
    }

    var request: HTTPRequest
    var expectation: Expectation
    /// The requested paths of included resources, as sent; nil leaves the choice to the server.
    var include: [String]?
    /// The result of a call that needs no request: a search for an empty list of ids, or an empty batch, which the
    /// server would reject (Atomic Operations, "Document Structure").
    var knownResult: JSONValue?
}

/// Converts service requests to HTTP requests.
///
/// Every error here is thrown before anything is sent.
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
            var found = try exchange(
                request, "GET", try url(of: request), .collection(limit: count("$limit"), skip: count("$skip")))
            if query.json["id"]?["$in"]?.array?.isEmpty == true { found.knownResult = ["total": 0, "data": []] }
            return found
        case .get:
            guard let id = request.id else { throw FeathersError.refused("id for 'get' can not be undefined") }
            return try exchange(request, "GET", url(of: request, id.description), .resource)
        case .create: return try creation(request)
        case .patch: return try change(request)
        case .remove: return try removal(request)
        case .update: throw Self.notAllowed("JSON:API cannot replace an entire resource; use 'patch'")
        case .custom(let name): throw Self.notAllowed("JSON:API does not support the method '\(name)'")
        }
    }

    private static func notAllowed(_ message: String) -> FeathersError {
        FeathersError(.methodNotAllowed, message, execution: .neverSent)
    }

    /// Builds a request: media types, header fields, body, and query parameters.
    private func exchange(
        _ request: ServiceRequest, _ method: String, _ url: String, _ expectation: JSONAPIExchange.Expectation,
        body: JSONAPIDocument? = nil, as role: JSONAPIDocument.Role = .response, extensions: [String] = []
    ) throws -> JSONAPIExchange {
        var text = url
        let query = request.params.query
        if query.json["$link"] == nil {
            let items = try QueryItems(options: options, keys: codec.keys).items(
                of: query, type: options.type(ofPath: request.path))
            if !items.isEmpty { text += (text.contains("?") ? "&" : "?") + items.map(\.encoded).joined(separator: "&") }
        }
        guard let target = URL(string: text), target.absoluteString == text else {
            throw FeathersError.refused("The path '\(request.path)' does not form a valid URL")
        }
        var bytes: [UInt8]?
        do throws(JSONAPIError) {
            bytes = try body?.serialized(as: role)
        } catch {
            throw FeathersError(
                .badRequest, "The data is not a valid JSON:API document: \(error)", execution: .neverSent, cause: error)
        }
        let http = HTTPRequest(
            method: method, url: target,
            headers: try fields(for: request, hasBody: bytes != nil, extensions: extensions), body: bytes,
            timeout: request.params.timeout ?? timeout, redirects: .followSameMethod(maximum: 20),
            maximumResponseBytes: maximumResponseBytes)
        let include = query.json["$include"]?.array?.compactMap { $0.string.map(codec.keys.wirePath) }
        return JSONAPIExchange(request: http, expectation: expectation, include: include)
    }

    /// Returns the URL of a service, of a resource, of a path below one, or of a link from the server.
    private func url(of request: ServiceRequest, _ below: String...) throws -> String {
        if let link = request.params.query.json["$link"]?.string { return try checked(link: link) }
        var text = try base.text()
        try RESTPath.append(service: request.path, route: request.params.route, to: &text)
        for segment in below { try RESTPath.append(ServiceID(segment), to: &text) }
        return text
    }

    /// Resolves a link from the server. A link to another origin is rejected, because header fields may be secret.
    private func checked(link: String) throws -> String {
        guard let base = URL(string: try base.text() + "/"), let url = URL(link: link, relativeTo: base),
            url.isRequestable
        else {
            throw FeathersError.refused("The link is not an http or https URL")
        }
        guard Origin(url) == Origin(base) else {
            throw FeathersError.refused(
                "The link points to \(url.hostAndPort ?? "another host"), not to \(base.hostAndPort ?? "the base URL")")
        }
        return url.absoluteString
    }

    /// Returns the header fields: Accept, then the app's, the body's, and the call's. Later fields win, regardless of
    /// case.
    private func fields(for request: ServiceRequest, hasBody: Bool, extensions: [String]) throws(FeathersError)
        -> HTTPHeaders
    {
        let mediaType = JSONAPIMediaType(extensions: options.extensions + extensions, profiles: options.profiles)
        var fields = HTTPHeaders()
        do {
            try fields.set("Accept", to: mediaType.accept)
            try fields.setFields(headers)
            if hasBody { try fields.set("Content-Type", to: mediaType.contentType) }
            if let held = request.params.heldResponse { try fields.set("If-None-Match", to: held.entityTag) }
            try fields.setFields(request.params.headers(for: base.origin))
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
            request, "POST", url(of: request), .change(sent: created[0].sent),
            body: JSONAPIDocument(data: .one(created[0].0)),
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
            return try batch(
                targets.map(JSONAPIOperation.remove), request, sent: targets.map { sentRecord(nil, $0.type, $0.id) })
        }
        let sent: JSONObject = ["id": .string(id), "type": .string(options.type(ofPath: request.path))]
        return try exchange(request, "DELETE", url(of: request, id), .change(sent: sent))
    }

    /// Returns the record used as the result if the server does not return one.
    private func sentRecord(_ data: JSONValue?, _ type: String, _ id: String?) -> JSONObject {
        var sent = data?.object ?? [:]
        sent["type"] = .string(type)
        if let id { sent["id"] = .string(id) }
        return sent
    }

    /// Returns the resource of a record without the members that only servers send: links, meta of relationships, and
    /// relationships without data.
    private func resource(of data: JSONValue?, _ request: ServiceRequest) throws -> JSONAPIResource {
        guard let record = data?.object else {
            throw FeathersError.refused("The data of '\(request.method)' must be an object")
        }
        let type = options.type(ofPath: request.path)
        var resource: JSONAPIResource
        do throws(JSONAPIError) {
            let names = options.relationships[record["type"]?.string ?? type] ?? []
            resource = try codec.resource(ofRecord: record, type: type, relationships: names)
        } catch {
            throw FeathersError(
                .badRequest, "The data is not a valid resource: \(error)", execution: .neverSent, cause: error)
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
                throw FeathersError.refused("The data must contain 'operations'")
            }
            return try batch(operations, request, sent: Array(repeating: [:], count: operations.count))
        }
        let call = try RelationshipCall(request.data)
        if method == .getRelated {
            return try exchange(
                request, "GET", call.link.map(checked) ?? url(of: request, call.id, call.name), .related)
        }
        let target = try call.link.map(checked) ?? url(of: request, call.id, "relationships", call.name)
        guard method != .getRelationship else { return try exchange(request, "GET", target, .document) }
        guard let linkage = call.linkage else {
            throw FeathersError.refused("The data must contain the new contents of the relationship")
        }
        let verb =
            switch method {
            case .addToRelationship: "POST"
            case .removeFromRelationship: "DELETE"
            default: "PATCH"
            }
        return try exchange(
            request, verb, target, .document, body: JSONAPIDocument(linkage: linkage), as: .relationship)
    }
}

// MARK: Batches of the Atomic Operations extension

extension JSONAPIRequestBuilder {
    /// Returns the resources of a multi operation. JSON:API cannot change resources that match a condition, so ids are
    /// required.
    private func targets(of request: ServiceRequest) throws -> [JSONAPIIdentifier] {
        try checkOperationsPath("'\(request.method)' of several records")
        let query = request.params.query.json
        let values = query["id"]?["$in"]?.array
        let ids = values?.compactMap(\.identifierText)
        guard query.count == 1, let ids, ids.count == values?.count else {
            throw Self.notAllowed(
                "JSON:API does not support '\(request.method)' by condition; "
                    + "select records only by id, with '.where(\"id\", .isIn(ids))'")
        }
        return ids.map { JSONAPIIdentifier(type: options.type(ofPath: request.path), id: $0) }
    }

    @discardableResult
    private func checkOperationsPath(_ what: String) throws(FeathersError) -> String {
        if let path = options.operationsPath { return path }
        throw Self.notAllowed(
            "\(what) requires the Atomic Operations extension; set 'operationsPath' if the server supports it")
    }

    private func batch(_ operations: [JSONAPIOperation], _ request: ServiceRequest, sent: [JSONObject]) throws
        -> JSONAPIExchange
    {
        try batch(operations.map(\.json), request, sent: sent)
    }

    /// Builds a batch. `sent` holds the records used as results if the server does not return any.
    private func batch(_ operations: [JSONValue], _ request: ServiceRequest, sent: [JSONObject]) throws
        -> JSONAPIExchange
    {
        let path = try checkOperationsPath("A batch of operations")
        var request = request
        // The query of a multi operation only names its targets, which the operations contain.
        request.params.query = Query()
        var text = try base.text()
        try RESTPath.append(service: path, route: [:], to: &text)
        let document = JSONAPIDocument(extensionMembers: ["atomic:operations": .array(operations)])
        var batch = try exchange(
            request, "POST", text, .batch(sent: sent), body: operations.isEmpty ? nil : document,
            extensions: [Self.atomicExtension])
        if operations.isEmpty { batch.knownResult = [] }
        return batch
    }
}
