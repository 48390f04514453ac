/// A service request as an array: `[method, path, …arguments, query]`, the form that FeathersJS sends over Socket.IO.
package enum CallArguments {
    /// - Throws: ``FeathersError/Code/badRequest`` if the path has a placeholder without a value that is one segment,
    ///   or if `get` has no id.
    package static func array(of request: ServiceRequest) throws(FeathersError) -> JSONValue {
        let query = JSONValue.object(request.params.query.json)
        let method = JSONValue.string(request.method.rawValue)
        let path = JSONValue.string(try path(of: request))
        // The null id means every matching record.
        let id = request.id?.json ?? .null
        switch request.method {
        case .find: return .array([method, path, query])
        case .get:
            guard request.id != nil else { throw refused("id for 'get' can not be undefined") }
            return .array([method, path, id, query])
        case .remove: return .array([method, path, id, query])
        case .update, .patch: return .array([method, path, id, request.data ?? .null, query])
        case .create, .custom: return .array([method, path, request.data ?? .null, query])
        }
    }

    /// Returns the path with its `:placeholders` replaced. Values are sent as they are, because a path in JSON is not
    /// decoded.
    private static func path(of request: ServiceRequest) throws(FeathersError) -> String {
        guard request.path.utf8.contains(UInt8(ascii: ":")) else { return request.path }
        var segments: [String] = []
        for segment in request.path.split(separator: "/", omittingEmptySubsequences: false) {
            guard let name = RouteValue.placeholder(segment) else {
                segments.append(String(segment))
                continue
            }
            segments.append(try RouteValue.segment(of: name, in: request.params.route, path: request.path))
        }
        return segments.joined(separator: "/")
    }

    private static func refused(_ message: String) -> FeathersError {
        FeathersError(.badRequest, message, execution: .neverSent)
    }
}
