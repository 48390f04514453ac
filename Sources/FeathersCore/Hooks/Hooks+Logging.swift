/// What one call was, how long it took and how it ended: for logs, never with payloads.
public struct CallRecord: Sendable, CustomStringConvertible {
    public let path: String
    public let method: ServiceMethod
    public let id: ServiceID?
    /// The query with the values of sensitive properties replaced.
    public let query: Query
    public let duration: Duration
    /// The failure, or nil where the call succeeded.
    public let error: (any Error)?

    public var description: String {
        let target = id.map { "\(path)/\($0)" } ?? path
        let milliseconds = Int((duration / .milliseconds(1)).rounded())
        let outcome = error.map { "failed: \($0)" } ?? "ok"
        let queryText = query.isEmpty ? "" : " \(JSONValue.object(query.json))"
        return "\(method) \(target)\(queryText) \(outcome) (\(milliseconds) ms)"
    }
}

extension Hooks {
    /// The properties whose values ``logging(redacting:to:)`` replaces unless told otherwise; compared without case.
    public static let sensitiveProperties: Set<String> = [
        "password", "accesstoken", "access_token", "refreshtoken", "refresh_token", "token", "secret", "authorization", "cookie", "apikey",
        "api_key",
    ]

    /// Reports every call with its duration and outcome.
    ///
    /// Neither data nor results are reported, and in queries the values of sensitive properties read `<redacted>`.
    /// - Parameters:
    ///   - properties: names of sensitive properties, in lower case.
    ///   - sink: receives one record per call, after it ended.
    public static func logging(
        redacting properties: Set<String> = sensitiveProperties, to sink: @escaping @Sendable (CallRecord) -> Void
    ) -> Hooks {
        Hooks(around: [
            { context, next in
                let clock = ContinuousClock()
                let start = clock.now
                let (path, method, id) = (context.path, context.method, context.id)
                let query = Query(context.params.query.json.redacting(properties))
                func report(_ error: (any Error)?) {
                    sink(CallRecord(path: path, method: method, id: id, query: query, duration: clock.now - start, error: error))
                }
                do {
                    try await next(&context)
                } catch {
                    report(error)
                    throw error
                }
                report(nil)
            }
        ])
    }
}

extension JSONObject {
    /// The object with the values of the named properties replaced, at any depth.
    fileprivate func redacting(_ properties: Set<String>) -> JSONObject {
        var redacted = JSONObject(minimumCapacity: count)
        for (key, value) in self {
            let name = key.split(separator: ".").last.map { $0.lowercased() } ?? key
            redacted[key] = properties.contains(name) ? "<redacted>" : value.redacting(properties)
        }
        return redacted
    }
}

extension JSONValue {
    fileprivate func redacting(_ properties: Set<String>) -> JSONValue {
        switch self {
        case .object(let object): .object(object.redacting(properties))
        case .array(let array): .array(array.map { $0.redacting(properties) })
        default: self
        }
    }
}
