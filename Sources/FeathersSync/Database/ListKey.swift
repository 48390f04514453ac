// Locks: Values without a lock.

import FeathersCore
import FeathersSupport

/// Whose records a database contains: those of a user, a service, and values for the placeholders of its path.
struct ServiceKey: Sendable, Hashable {
    let identity: Identity?
    let path: String
    /// The values for the placeholders of the path, as JSON.
    let route: String
    /// The name of the records' id property.
    let property: String
    /// A digest of the header fields of the request; empty without any.
    let fields: String

    init(
        identity: Identity?, path: String, route: [String: String], property: String, fields: String = ""
    ) {
        (self.identity, self.path, self.property, self.fields) = (identity, path, property, fields)
        self.route = Self.text(of: route)
    }

    static func text(of route: [String: String]) -> String {
        let sorted = route.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.string($0.value)) }
        return JSONValue.object(JSONObject(sorted)).serializedText
    }
}

/// What a stored list belongs to: a service and a query.
struct ListKey: Sendable, Hashable {
    let service: ServiceKey
    /// The query and everything else that the list depends on, as JSON.
    let text: String
}

extension LiveSource {
    /// Returns the key under which the query's list is stored for a user; nil if it is not stored.
    ///
    /// The database contains no values of header fields. Those with credentials are left out, because the user tells
    /// lists apart, and a renewed token must find them again. Without a user, nothing does, so a query with
    /// credentials of its own is not stored. Other fields take part as a digest.
    func listKey(for identity: Identity?) -> ListKey? {
        guard stores, relation == nil || relation?.owner != nil, let fields = digest(for: identity) else { return nil }
        let service = ServiceKey(
            identity: identity, path: service.path, route: params.route, property: id, fields: fields)
        return ListKey(service: service, text: listText(fields))
    }

    /// Tells the list of the query from those of others; nil if it is not stored.
    var listText: String? { stores ? digest(for: service.app.identity).map(listText) : nil }

    /// Returns a digest of the header fields, empty without any; nil if only they tell who asks.
    private func digest(for identity: Identity?) -> String? {
        let credentials: Set = ["authorization", "cookie", "proxy-authorization", service.app.credentialField]
        let fields = params.headers.map { ($0.key.lowercased(), $0.value) }.sorted { $0 < $1 }
        let plain = fields.filter { !credentials.contains($0.0) }.map {
            JSONValue.array([.string($0.0), .string($0.1)])
        }
        if identity == nil, plain.count < fields.count { return nil }
        return plain.isEmpty ? "" : SHA256.hex(Array(JSONValue.array(plain).serializedText.utf8))
    }

    private func listText(_ fields: String) -> String {
        var values: JSONObject = [
            "query": .object(params.query.joined(with: query).json), "id": .string(id),
            "route": .string(ServiceKey.text(of: params.route)),
        ]
        if !fields.isEmpty { values["headers"] = .string(fields) }
        if let relation, relation.part == nil {
            values["relation"] = .string(relation.property)
            values["of"] = .string(relation.owner ?? "")
        }
        return JSONValue.object(values).serializedText
    }
}

extension JSONValue {
    fileprivate var serializedText: String { (try? serialized()).map { String(decoding: $0, as: UTF8.self) } ?? "" }
}
