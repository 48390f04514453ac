import FeathersCore
import FeathersNetworking
import Foundation

/// Batches of the Atomic Operations extension.
extension JSONAPIRequestBuilder {
    static let atomicExtension = "https://jsonapi.org/ext/atomic"

    func operations(_ request: ServiceRequest) throws -> JSONAPIExchange {
        guard let operations = request.data?["operations"]?.array else {
            throw FeathersError.refused("The data must hold 'operations'")
        }
        return try batch(operations, request, sent: Array(repeating: [:], count: operations.count))
    }

    func creations(_ records: [JSONValue], _ request: ServiceRequest) throws -> JSONAPIExchange {
        try checkEnabled("'create' of several records")
        let resources = try records.map { try newResource($0, request) }
        let sent = zip(records, resources).map { record, resource in
            var sent = record.object ?? [:]
            sent["type"] = .string(resource.type)
            if let id = resource.id { sent["id"] = .string(id) }
            return sent
        }
        return try batch(resources.map { JSONAPIOperation.add($0).json }, request, sent: sent)
    }

    func changes(_ request: ServiceRequest) throws -> JSONAPIExchange {
        let identifiers = try targets(of: request)
        let resource = try sendable(request.data, request)
        let operations = identifiers.map { identifier in
            var resource = resource
            resource.id = identifier.id
            resource.lid = nil
            return JSONAPIOperation.update(resource).json
        }
        let sent = identifiers.map { identifier in
            var sent = request.data?.object ?? [:]
            sent["type"] = .string(identifier.type)
            sent["id"] = identifier.id.map(JSONValue.string)
            return sent
        }
        return try batch(operations, request, sent: sent)
    }

    func removals(_ request: ServiceRequest) throws -> JSONAPIExchange {
        let identifiers = try targets(of: request)
        return try batch(
            identifiers.map { JSONAPIOperation.remove($0).json }, request, sent: identifiers.map { $0.json.object ?? [:] })
    }

    /// The resources a multi operation is for. JSON:API changes nothing by a condition, so that the ids must be named.
    private func targets(of request: ServiceRequest) throws -> [JSONAPIIdentifier] {
        try checkEnabled("'\(request.method)' of several records")
        let query = request.params.query.json
        let ids = query["id"]?["$in"]?.array?.compactMap(JSONAPIResource.identifierText)
        guard query.count == 1, let ids, ids.count == query["id"]?["$in"]?.array?.count else {
            throw FeathersError(
                .methodNotAllowed,
                "JSON:API has no '\(request.method)' by a condition: name the records, '.where(\"id\", .isIn(ids))', and nothing else",
                execution: .neverSent)
        }
        return ids.map { JSONAPIIdentifier(type: options.type(ofPath: request.path), id: $0) }
    }

    private func checkEnabled(_ what: String) throws(FeathersError) {
        guard options.operationsPath == nil else { return }
        throw FeathersError(
            .methodNotAllowed, "\(what) needs the Atomic Operations extension: set 'operationsPath' where the server has it",
            execution: .neverSent)
    }

    /// - Parameter sent: what stands in for the results the server says nothing of.
    private func batch(_ operations: [JSONValue], _ request: ServiceRequest, sent: [JSONObject]) throws -> JSONAPIExchange {
        try checkEnabled("A batch of operations")
        var request = request
        // The query of a multi operation has named its targets.
        request.params.query = Query()
        var text = try base.text()
        try RESTPath.append(options.operationsPath ?? "", route: [:], to: &text)
        let document = JSONAPIDocument(extensionMembers: ["atomic:operations": .array(operations)])
        var batch = try exchange(
            request, "POST", text, .batch(sent: sent), body: operations.isEmpty ? nil : document, extensions: [Self.atomicExtension])
        if operations.isEmpty { batch.knownResult = [] }
        return batch
    }
}
