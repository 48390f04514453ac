import FeathersCore

/// The entity tags of records that `get` has brought, so that a write made on one of them fails if it has changed
/// (`If-Match`).
///
/// The tag of a list belongs to the list, not to its records.
struct EntityTags: Sendable {
    /// A record as it came with its tag.
    struct Tagged: Sendable {
        let record: JSONValue
        let tag: String
        let identity: Identity?
    }

    /// At least so many are known. More than that are forgotten together.
    private static let limit = 1000

    private var (newer, older): ([String: Tagged], [String: Tagged]) = ([:], [:])

    mutating func add(_ key: String, _ tagged: Tagged) {
        newer[key] = tagged
        if newer.count >= Self.limit { (newer, older) = ([:], newer) }
    }

    /// Takes the tag of a record. The first write to it makes the tag stale.
    mutating func take(_ key: String) -> Tagged? {
        let older = older.removeValue(forKey: key)
        return newer.removeValue(forKey: key) ?? older
    }

    /// Returns the tag of the record in a response; nil if the response has none that a write can expect.
    ///
    /// A selection is not the record, and a weak tag never fulfills a condition (RFC 9110, section 13.1.1).
    static func tag(of response: ServiceResponse, to request: ServiceRequest) -> String? {
        guard request.params.query.isEmpty, let tag = response[EntityTag.self], !tag.hasPrefix("W/") else { return nil }
        return tag
    }
}

extension Params {
    /// Makes a write fail if its record has another tag. Only HTTP carries the condition.
    mutating func expect(_ tag: String) {
        headers["If-Match"] = tag
        travelsByHTTP = true
    }
}

extension Outbox.State {
    /// Returns the record on which a write is made, and the tag that came with it.
    /// - Parameter own: The record on which the caller has made the write; nil for the one that was last read.
    mutating func base(
        of id: ServiceID, _ route: [String: String], _ lane: String, _ path: String, _ identity: Identity?,
        _ own: Outbox.Draft.Base?
    ) -> (record: JSONValue?, tag: String?) {
        let tagged = tags.take(RecordKey.text(id, path, route))
        // Only the first write can use the tag: any earlier write in the lane has made it stale.
        let isFirst = [identity, nil].allSatisfy { queue.lanes[OutboxQueue.Lane(name: lane, identity: $0)] == nil }
        if let own { return (own.record, isFirst ? own.tag : nil) }
        let known = stores.known(id.key, at: path, route)
        guard let tagged, tagged.identity == identity, isFirst else { return (known, nil) }
        // A live query may have heard of a later change, which the write was made on.
        guard let known, known != tagged.record else { return (tagged.record, tagged.tag) }
        return (known, nil)
    }
}

/// Notes the tags of the records that the app reads, and forgets those that it writes.
struct TagMiddleware: Middleware {
    let outbox: Outbox

    /// Inside the sign-in gate, so that the sender is known.
    var order: MiddlewareOrder { .coalescing }

    func around(_ next: any Responder, at site: MiddlewareSite) -> (any Responder)? {
        guard site.implementation is RemoteResponder, site.path != nil else { return nil }
        return TaggingResponder(outbox: outbox, site: site, next: next)
    }
}

private struct TaggingResponder: Responder {
    let outbox: Outbox
    let site: MiddlewareSite
    let next: any Responder

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        let key = request.id.map { RecordKey.text($0, request.path, request.params.route) }
        guard request.method == .get else {
            if let key { outbox.withState { _ = $0.tags.take(key) } }
            return try await next.respond(to: request)
        }
        let sender = site.sender(of: request)
        let response = try await next.respond(to: request)
        // Another user's record is not the outbox's.
        guard !request.isForAnotherUser(in: site.app), let key, let tag = EntityTags.tag(of: response, to: request)
        else { return response }
        let tagged = EntityTags.Tagged(record: response.result, tag: tag, identity: sender?.identity)
        outbox.withState { $0.tags.add(key, tagged) }
        return response
    }
}
