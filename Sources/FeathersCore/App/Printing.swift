public import FeathersSupport

// The printed and dumped form of apps, services and calls. It contains no header fields, payloads or credentials.

extension FeathersApp: SecretHiding, Summarized {
    package var summary: String { "FeathersApp(transport: \(transport.map { summarize($0) } ?? "none"), services: \(servicePaths.count))" }
}

extension Service: SecretHiding, Summarized {
    package nonisolated var summary: String { "Service(\(path.debugDescription))" }
}

extension UntypedService: SecretHiding, Summarized {
    package var summary: String { "UntypedService(\(path.debugDescription))" }
}

extension TypedService: SecretHiding, Summarized {
    package var summary: String { "\(Self.self)(\(path.debugDescription))" }
}

extension TransportService: SecretHiding, Summarized {
    package var summary: String { "TransportService(\(summarize(transport)))" }
}

extension MemoryService: SecretHiding {}

extension ServiceRequest: SecretHiding, Summarized {
    package var summary: String { "ServiceRequest(\(outline))" }

    fileprivate var outline: String { "\(method) \(path.debugDescription)\(id.map { ", id: \($0)" } ?? ""), \(params)" }
}

extension HookContext: SecretHiding, Summarized {
    package var summary: String { "HookContext(\(type) \(request.outline))" }
}

extension ServiceResponse: SecretHiding {}

extension Params: SecretHiding, Summarized {
    package var summary: String {
        var parts: [String] = []
        if !query.isEmpty { parts.append("query: \(JSONValue.object(query.json))") }
        if !headers.isEmpty { parts.append("headers: [\(headers.keys.sorted().joined(separator: ", "))]") }
        if !route.isEmpty { parts.append("route: \(route)") }
        if let timeout { parts.append("timeout: \(timeout)") }
        return "Params(\(parts.joined(separator: ", ")))"
    }
}

// These contain no secrets, but their internals are not informative.

extension Query: SecretHiding, Summarized {
    package var summary: String { "Query(\(JSONValue.object(json)))" }
}

extension TypedQuery: SecretHiding, Summarized {
    package var summary: String {
        guard let query = try? untyped() else { return "\(Self.self)(cannot be written)" }
        return "\(Self.self)(\(JSONValue.object(query.json)))"
    }
}
