public import FeathersSupport

// The printed and dumped form of apps, services and calls. It contains names and ids, but no values of queries, header
// fields, routes or payloads.

extension FeathersApp: SecretHiding {
    public var description: String {
        "FeathersApp(transport: \(transport.map { summarize($0) } ?? "none"), services: \(servicePaths.count))"
    }
}

extension RegisteredService: SecretHiding {
    public nonisolated var description: String { "RegisteredService(\(path.debugDescription))" }
}

extension Service: SecretHiding {
    public var description: String { "\(Self.self)(\(path.debugDescription))" }
}

extension RemoteResponder: SecretHiding {
    package var description: String { "RemoteResponder(\(summarize(transport)))" }
}

extension MemoryService: SecretHiding {}

extension ServiceRequest: SecretHiding {
    public var description: String { "ServiceRequest(\(outline))" }

    fileprivate var outline: String { "\(method) \(path.debugDescription)\(id.map { ", id: \($0)" } ?? ""), \(params)" }
}

extension HookContext: SecretHiding {
    public var description: String { "HookContext(\(type) \(serviceRequest.outline))" }
}

extension ServiceResponse: SecretHiding {}

extension Params: SecretHiding {
    public var description: String {
        var parts: [String] = []
        if !query.isEmpty { parts.append("query: {\(query.json.names)}") }
        if !headers.isEmpty { parts.append("headers: [\(headers.keys.sorted().joined(separator: ", "))]") }
        if !route.isEmpty { parts.append("route: [\(route.keys.sorted().joined(separator: ", "))]") }
        if let timeout { parts.append("timeout: \(timeout)") }
        return "Params(\(parts.joined(separator: ", ")))"
    }
}

extension QueryCondition: SecretHiding {
    public var description: String { "QueryCondition(\(`operator` ?? "equals"))" }
}

extension Query: SecretHiding {
    public var description: String {
        let name = Model.self == JSONValue.self ? "Query" : "\(Self.self)"
        guard let json = try? json(coding: defaultCoding) else { return "\(name)(cannot be written)" }
        return "\(name)(\(json.names))"
    }
}

extension JSONObject {
    /// The names of a query's properties and operators, without its values: `age: {$gt}, $or: [{team}, {name}]`.
    fileprivate var names: String {
        map { name, value in value.names.map { "\(name): \($0)" } ?? name }.joined(separator: ", ")
    }
}

extension JSONValue {
    /// The names in an object or an array; nil if there are none.
    fileprivate var names: String? {
        if let object { return object.isEmpty ? nil : "{\(object.names)}" }
        let elements = array?.compactMap(\.names) ?? []
        return elements.isEmpty ? nil : "[\(elements.joined(separator: ", "))]"
    }
}
