import FeathersCore
import FeathersSupport

/// Lets identical reads that are under way at the same time share one request.
struct ReadSharing: RequestStage {
    let place = RequestStagePlace.sharing
    let requests: SingleFlight<SharedRead, JSONValue>

    func around(_ next: any ServiceProtocol, at site: RequestSite) -> (any ServiceProtocol)? {
        SharingService(requests: requests, next: next, site: site)
    }
}

private struct SharingService: ServiceProtocol {
    let requests: SingleFlight<SharedRead, JSONValue>
    let next: any ServiceProtocol
    let site: RequestSite

    func respond(to request: ServiceRequest) async throws -> JSONValue {
        guard let read = SharedRead(request, at: site) else { return try await next.respond(to: request) }
        return try await requests.value(of: read) { try await next.respond(to: request) }
    }
}
