import FeathersCore

/// What makes two reads identical: everything that is sent, and who asks.
struct SharedRead: Hashable, Sendable {
    private let appID: ObjectIdentifier
    private let partition: CachePartition?
    private let path: String
    private let method: ServiceMethod
    /// As JSON, which tells a composed from a decomposed "é", as servers do.
    private let id: JSONValue?
    private let route: JSONObject
    private let query: Query
    private let headers: [String: String]
    private let timeout: Duration?
    private let isVolatile: Bool

    /// Nil for what is no read, and for reads that are told more than their value.
    init?(_ request: ServiceRequest, at site: RequestSite) {
        let params = request.params
        guard request.method == .find || request.method == .get, params[ConditionalRead.self] == nil else { return nil }
        appID = site.appID
        partition = site.partition
        path = request.path
        method = request.method
        id = request.id?.json
        route = params.route.isEmpty ? [:] : JSONObject(params.route.map { ($0, .string($1)) })
        query = params.query
        headers = params.headers
        timeout = params.timeout
        isVolatile = params.isVolatile
    }
}
