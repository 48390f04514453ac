import FeathersCore
import FeathersSupport
import Foundation

extension Outbox {
    /// Shows the pending writes of a service in a store, from now on.
    func attach(_ store: LiveStore) {
        withState { state in
            state.stores.add(store)
            let items = state.queue.writes(for: store)
            let names = state.names.assigned(at: store.key.path, store.key.route)
            store.withState { live in
                live.store.records.show(names)
                live.store.replaceQueue(items)
            }
        }
    }
}

extension Outbox.State {
    /// Returns what is known of a record that a queued write creates or has created.
    func known(_ id: ServiceID, at path: String, _ route: [String: String]) -> Names.Known? { names[id, path, route] }
}

// MARK: - Calls

/// Gives the records that queued writes create their ids in every call, so that no provisional id leaves the device.
struct NameMiddleware: Middleware {
    let outbox: Outbox

    /// The outermost, so that the cache knows the record by its id.
    var order: MiddlewareOrder { .names }

    func around(_ next: any Responder, at site: MiddlewareSite) -> (any Responder)? {
        site.path == nil ? nil : NamingResponder(outbox: outbox, next: next)
    }
}

private struct NamingResponder: Responder {
    let outbox: Outbox
    let next: any Responder

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        // A queued write waits for the creations to which it refers before it is sent.
        try await next.respond(to: request.isQueuedWrite ? request : outbox.named(request))
    }
}

extension Outbox {
    /// Returns a call with ids in place of keys. Waits for the creation of a record to which the call refers.
    /// - Throws: ``FeathersError/Code/gone`` if a record does not exist, because its creation was discarded,
    ///   ``FeathersError/Code/conflict`` if it is created at the end of the group in which the call is made, and
    ///   ``FeathersError/Code/timeout`` if it is not created in time.
    func named(_ request: ServiceRequest) async throws -> ServiceRequest {
        try OutboxGroup.check(request, self)
        let start = timebase.now
        while true {
            let (translated, missing, created) = withState { state in
                var missing: [Names.Missing] = []
                let translated = state.names.translated(request, &missing)
                var created: Promise<JSONValue>?
                for missing in missing { if case .queued(let write) = missing.name { created = state.results[write] } }
                return (translated, missing, created)
            }
            if let error = FeathersError(missing, in: "The call") { throw error }
            let waited = timebase.now - start
            let left = request.params.timeout.map { max($0 - waited, .zero) }
            guard let missing = missing.first else {
                guard waited > .zero else { return translated }
                var translated = translated
                translated.params.timeout = left
                return translated
            }
            let late = FeathersError(
                .timeout, "The call refers to a record that is not created yet, in \(missing.property)",
                execution: .neverSent)
            guard let created else { throw late }
            try await timebase.run(atMost: left ?? outboxOptions.attemptTimeout ?? .seconds(60), orThrow: late) {
                // The creation may be discarded, which the next look at the names says.
                _ = try? await created.value()
                try Task.checkCancellation()
            }
        }
    }
}

extension Names {
    /// Why a write cannot be sent: it refers to a record whose id will not be known. It may be its own.
    func refusal(of write: OutboxWrite) -> FeathersError? {
        var missing: [Missing] = []
        _ = translated(write, &missing)
        if let error = FeathersError(missing, in: "The write") { return error }
        return missing.first.map {
            FeathersError(
                .badRequest, "The write refers to a record that is not created yet, in \($0.property)",
                execution: .neverSent)
        }
    }

    func translated(_ request: ServiceRequest, _ missing: inout [Missing]) -> ServiceRequest {
        guard !isEmpty else { return request }
        var new = request
        new.id = request.id.map { translated($0, &missing) }
        new.data = request.data.map { translated($0, in: "data", &missing) }
        if !request.params.query.isEmpty,
            let query = translated(.object(request.params.query.json), in: "query", &missing).object
        {
            new.params.query.json = query
        }
        new.params.route = translated(request.params.route, &missing)
        return new
    }
}

extension FeathersError {
    /// The error of a call or write that refers to a record without an id; nil if all have one, or will have.
    init?(_ missing: [Names.Missing], in what: String) {
        for missing in missing {
            switch missing.name {
            case .gone:
                self.init(
                    .gone, "\(what) refers to a new record whose creation was discarded, in \(missing.property)",
                    execution: .neverSent)
                return
            case .unknown:
                self.init(
                    .badRequest,
                    "\(what) refers to a new record whose id the server did not say, in \(missing.property)",
                    execution: .neverSent)
                return
            case .queued, .assigned: continue
            }
        }
        return nil
    }
}
