import FeathersCore
import FeathersSupport

/// The outermost middleware: serves reads from a cache, and invalidates what writes change.
struct CacheMiddleware: Middleware {
    let order = MiddlewareOrder.cache
    let cache: ServiceCache

    func around(_ next: any Responder, at site: MiddlewareSite) -> (any Responder)? {
        return CachingResponder(cache: cache, next: next, site: site)
    }
}

private struct CachingResponder: Responder {
    let cache: ServiceCache
    let next: any Responder
    let site: MiddlewareSite

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        if site.path == nil { return try await endpoint(request) }
        switch request.method {
        case .find, .get: return try await request.streamsResult ? next.respond(to: request) : read(request)
        case .create, .update, .patch, .remove: return try await change(request)
        case .custom where cache.cacheOptions.changingMethods.contains(request.method): return try await change(request)
        case .custom: return try await next.respond(to: request)
        }
    }

    /// Responds to an endpoint's call. No events report changes of its data, so it is cached only if the call or the
    /// options of its path set a policy.
    /// - Throws: ``FeathersError/Code/badRequest`` for a policy of the call if the response cannot be stored.
    private func endpoint(_ request: ServiceRequest) async throws -> ServiceResponse {
        let policy = request.params.cachePolicy ?? cache.serviceOptions(at: request.path)?.policy
        guard let policy, policy != .networkOnlyNoCache else { return try await next.respond(to: request) }
        if request.params.endpointRead != nil, request.data == nil { return try await read(request) }
        guard let policy = request.params.cachePolicy else { return try await next.respond(to: request) }
        throw FeathersError.refused(
            "The cache policy '\(policy.rawValue)' cannot apply to endpoint '\(request.path)': "
                + "only 'GET' requests whose response is JSON or text are cached")
    }

    private func change(_ request: ServiceRequest) async throws -> ServiceResponse {
        let group = cache.group(ofServiceAt: request.path)
        do {
            let response = try await next.respond(to: request)
            await cache.invalidate(group: group)
            return response
        } catch {
            if mayHaveExecuted(error) { await cache.invalidate(group: group) }
            throw error
        }
    }

    /// Whether a failed write may have changed records. A cancelled write may have waited for a connection the whole
    /// time.
    private func mayHaveExecuted(_ error: any Error) -> Bool {
        if let error = error as? FeathersError { return error.execution == .mayHaveExecuted }
        switch site.app?.connectionStatus {
        case nil, .connected: return true
        case .offline, .connecting, .waiting, .closed: return false
        }
    }

    private func read(_ request: ServiceRequest) async throws -> ServiceResponse {
        var request = request
        let order = request.params[CachedOrder.self]
        request.params[CachedOrder.self] = nil
        if case .goOn(let read)? = order {
            guard cache.holds(read.terms) else { throw FeathersError.userChanged(request) }
            return try await nextValue(of: read)
        }
        guard let read = await begin(request) else { return try await next.respond(to: request) }
        return try await order == nil ? lastValue(of: read) : nextValue(of: read)
    }

    /// Creates a read with the options of its call, its service and the cache; nil if it has no key.
    private func begin(_ request: ServiceRequest) async -> CachedRead? {
        let service = cache.serviceOptions(at: request.path)
        // The key does not include the call's page sizes.
        guard let app = site.app, request.params.pagination == nil else { return nil }
        // Comes before any lookup, so that the entries of the stored token's user can be read without a server.
        let sender = request.isForAnotherUser(in: app) ? .ofCall : await app.resolvedSender()
        let ownPartition = cache.cacheOptions.partition(request)
        let group = service?.group ?? request.path
        let key = cache.key(of: request, group: group, in: app, as: sender.identity, ownPartition)
        guard let key else { return nil }
        let terms = CachedRead.Terms(
            request: request, next: next, site: site, sender: sender, key: key,
            expiration: request.params.cacheExpiration ?? service?.expiration ?? cache.expiration,
            ownPartition: ownPartition)
        let policy =
            request.params.readsFromServer
            ? .networkOnlyUpdateCache : request.params.cachePolicy ?? service?.policy ?? cache.policy
        return CachedRead(cache, terms, policy)
    }

    /// Returns the response of a plain call: the last value.
    private func lastValue(of read: CachedRead) async throws -> ServiceResponse {
        var read = read
        var last = ServiceResponse(.null)
        while !read.isFinished {
            switch try await read.advance() {
            case .result(let result): last = ServiceResponse(result.value)
            case .refresh:
                if !cache.background.refresh(read) { cache.cacheOptions.onFailure(Self.notRunning(read.terms.request)) }
            case .finished: break
            }
        }
        return last
    }

    /// Returns the next value of a stream. Each value is a separate call.
    private func nextValue(of read: CachedRead) async throws -> ServiceResponse {
        var read = read
        guard case .result(let result) = try await read.advance() else { return ServiceResponse(.null) }
        var step = CachedStep(source: result.source)
        if read.isToRefresh {
            if !cache.background.refresh(read) { step.refresh = read }
        } else if !read.isFinished {
            step.following = read
        }
        var response = ServiceResponse(result.value)
        response[CachedStep.self] = step
        return response
    }

    private static func notRunning(_ request: ServiceRequest) -> FeathersError {
        FeathersError(
            .generalError,
            "A cached \(request.subject) cannot be refreshed: the app is not running",
            execution: .neverSent)
    }
}

/// What a stream of cached results requests from the cache, in the params of a call.
enum CachedOrder: ParamsKey, Sendable {
    typealias Value = CachedOrder

    case begin
    /// The next value of a read that has already yielded one.
    case goOn(CachedRead)
}

/// What the cache returns to a stream in addition to a value.
struct CachedStep: ResponseKey, Sendable {
    typealias Value = CachedStep

    let source: CacheSource
    /// The read, if it has another value.
    var following: CachedRead?
    /// The read, if its cached value must be refreshed and no running app does so.
    var refresh: CachedRead?
}

// MARK: The network

extension ServiceCache {
    /// Sends a request, or waits for an identical read's request. Stores the response if `writes`.
    /// The server can confirm that `found`, the cached entry, is current instead of sending it again.
    /// - Throws: The call's error, or ``FeathersError/Code/notAuthenticated`` if the signed-in user has changed
    ///   meanwhile.
    func fetchEntry(_ terms: CachedRead.Terms, holding found: CacheEntry?, writes: Bool) async throws -> JSONValue {
        let stamp = invalidation.withLock { $0.stamp(of: terms.key.group) }
        let response: ServiceResponse
        if cacheOptions.sharesRequests {
            let read = InFlightRead(
                key: terms.key, stamp: stamp, sender: terms.sender, timeout: terms.request.params.timeout,
                writes: writes,
                expiration: terms.expiration)
            response = try await inFlight.value(of: read) {
                try await request(terms, holding: found, writes: writes, stamp)
            }
        } else {
            response = try await request(terms, holding: found, writes: writes, stamp)
        }
        // A read that waited for another one may get the response after the user has changed.
        guard (response[SentAs.self] ?? terms.sender).isCurrent else { throw FeathersError.userChanged(terms.request) }
        return response.result
    }

    private func request(
        _ terms: CachedRead.Terms, holding found: CacheEntry?, writes: Bool, _ stamp: CacheInvalidation.Stamp
    ) async throws -> ServiceResponse {
        guard writes else { return try await terms.next.respond(to: terms.request) }
        var request = terms.request
        let asksConditionally = request.params.headers.keys.contains { $0.lowercased() == "if-none-match" }
        if let found, let tag = EntityTag.checked(found.entityTag), !asksConditionally {
            request.params.heldResponse = HeldResponse(entityTag: tag, value: found.value)
        }
        let response = try await terms.next.respond(to: request)
        // Only the sign-in gate knows the user of the response, because a call may sign the app in.
        let sender = response[SentAs.self] ?? terms.sender
        let key =
            sender.identity == terms.sender.identity
            ? terms.key
            : key(
                of: terms.request, group: terms.key.group, in: terms.site.app, as: sender.identity, terms.ownPartition)
        if sender.isCurrent, let key, terms.request.isAnswered(by: response.result) {
            let entry = CacheEntry(
                value: response.result, expiration: terms.expiration.date(from: cacheOptions.now()),
                entityTag: response[EntityTag.self] ?? (response[NotModified.self] == true ? found?.entityTag : nil))
            await keep(entry, for: key, terms, stamp)
        }
        return response
    }
}

extension FeathersError {
    /// Creates the error of a read whose user is no longer signed in.
    static func userChanged(_ request: ServiceRequest) -> FeathersError {
        FeathersError(
            .notAuthenticated,
            "The signed-in user changed before the response to \(request.subject) arrived"
        )
    }
}

extension ServiceRequest {
    /// Whether a result is one that the method returns. For example, the sign-in page of a network is no result of
    /// `find`, even if it is JSON.
    fileprivate func isAnswered(by result: JSONValue) -> Bool {
        guard method == .find else { return true }
        return (try? result.unwrapped(by: params[PageRootKeys.self] ?? [])).map(Page.isPage) ?? false
    }

    /// The call in messages.
    var subject: String {
        params.endpointRead == nil ? "'\(method)' on service '\(path)'" : "'GET' on endpoint '\(path)'"
    }
}
