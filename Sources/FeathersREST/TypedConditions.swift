import FeathersCore
import FeathersSupport

/// Reports, once per service, a query whose values lose their types in a query string.
final class TypedConditionReporter: Sendable {
    private let reported = Locked<Set<String>>([])

    func check(_ request: ServiceRequest) {
        let diagnostics = Diagnostics.current
        // Without a sink, the report waits until there is one.
        guard diagnostics.wants(.warning, .http), let property = request.params.query.json.firstTypedCondition else {
            return
        }
        // Bounded, because paths may contain ids.
        guard reported.withLock({ $0.count < 1000 && $0.insert(request.path).inserted }) else { return }
        diagnostics.log(
            .warning, .http,
            """
            The query of '\(request.method)' on service '\(request.path)' compares '\(property)' with a number, a \
            Boolean, or null. REST sends the value as text, which matches nothing unless the server has query schemas. \
            If it does, set QueryStringOptions(serverParsesTypes: true); otherwise, use Socket.IO.
            """, [.path: .string(request.path), .method: .string(request.method.rawValue)])
    }
}

extension JSONObject {
    /// The first property that is compared with a number, a Boolean, or null. FeathersJS itself parses `$limit`,
    /// `$skip`, and `$sort`.
    fileprivate var firstTypedCondition: String? {
        for (name, value) in self where !["$limit", "$skip", "$sort", "$select"].contains(name) {
            if let property = value.typedCondition(on: name) { return property }
        }
        return nil
    }
}

extension JSONValue {
    fileprivate func typedCondition(on property: String) -> String? {
        switch self {
        case .string: return nil
        case .null, .bool, .integer, .number, .decimal: return property
        case .array(let elements):
            for element in elements {
                if let found = element.typedCondition(on: property) { return found }
            }
            return nil
        case .object(let object):
            for (name, value) in object {
                // Operators apply to the property before them; `$or` and `$and` stand alone.
                let inner = property.hasPrefix("$") ? name : name.hasPrefix("$") ? property : "\(property).\(name)"
                if let found = value.typedCondition(on: inner) { return found }
            }
            return nil
        }
    }
}
