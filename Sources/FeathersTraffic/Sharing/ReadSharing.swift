public import FeathersCore
import FeathersSupport

extension Hooks {
    /// Coalesces identical reads that are in flight at the same time into one request.
    ///
    /// Reads are identical if they are `find` or `get` calls of the same service by the same user, with the same id,
    /// query, header fields, route and timeout. Only ``FeathersApp/harmlessHeaders`` may differ. Requests are compared
    /// after their hooks have run. Hooks run for every caller, before and after.
    ///
    /// Cancelling one caller does not affect the others. If that caller sent the request, the next one sends it again.
    /// The request ends when the last caller is cancelled. All callers get the same error.
    ///
    /// Nothing is stored: a response goes only to callers that were waiting when it arrived. A `ServiceCache` coalesces
    /// its requests by itself.
    public static func coalescingReads() -> Hooks {
        var hooks = Hooks()
        let sharing = ReadSharing(requests: SingleFlight())
        (hooks.middleware[.find], hooks.middleware[.get]) = ([sharing], [sharing])
        return hooks
    }
}

/// Coalesces identical reads that are in flight at the same time into one request.
struct ReadSharing: Middleware {
    let order = MiddlewareOrder.coalescing
    let requests: SingleFlight<SharedRead, ServiceResponse>

    func around(_ next: any Responder, at site: MiddlewareSite) -> (any Responder)? {
        SharingResponder(requests: requests, next: next, site: site)
    }
}

private struct SharingResponder: Responder {
    let requests: SingleFlight<SharedRead, ServiceResponse>
    let next: any Responder
    let site: MiddlewareSite

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        guard let read = SharedRead(request, at: site) else { return try await next.respond(to: request) }
        return try await requests.value(of: read) { try await next.respond(to: request) }
    }
}

/// The properties that make two reads identical: everything that is sent, and the user.
struct SharedRead: Hashable, Sendable {
    private let sender: RequestSender?
    private let path: String
    private let method: ServiceMethod
    /// As JSON, which distinguishes a composed from a decomposed "é", as servers do.
    private let id: JSONValue?
    private let route: JSONObject
    private let query: Query<JSONValue>
    private let fields: [String: String]
    private let timeout: Duration?
    private let isVolatile: Bool

    /// Nil for calls that are not reads, for conditional reads, whose response is more than a value, for reads with
    /// their own pagination, and for live queries' fetches, whose response must not be older than the events before
    /// them.
    init?(_ request: ServiceRequest, at site: MiddlewareSite) {
        let params = request.params
        guard request.method == .find || request.method == .get, params.heldResponse == nil, params.pagination == nil,
            !params.readsFromServer, !request.streamsResult
        else {
            return nil
        }
        sender = site.sender(of: request)
        path = request.path
        method = request.method
        id = request.id?.json
        route = params.route.isEmpty ? [:] : JSONObject(params.route.map { ($0, .string($1)) })
        query = params.query
        fields = request.distinguishingFields(in: site.app)
        timeout = params.timeout
        isVolatile = params.isVolatile
    }
}
