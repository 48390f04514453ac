public import FeathersCore
import FeathersSupport

extension Hooks {
    /// Combines calls made at the same time into one call to the server's batch service, FeathersJS' `feathers-batch`.
    ///
    /// ```swift
    /// app.use(hooks: .batching(over: "batch", services: ["messages", "users"]))
    /// ```
    ///
    /// Requests are batched after the hooks of each call have run; the batch itself runs no hooks. Each call gets its own result or error. Calls
    /// share a batch if they have the same user, header fields and timeout. A call without company is sent as usual, and so are custom methods, which
    /// the batch service does not support. If a batch fails as a whole, all its calls fail.
    ///
    /// The call that opens a batch sends it. If that call is cancelled in flight, the other reads are sent again. The other writes fail with
    /// ``FeathersError/Code/unavailable`` and may have been executed. Batch writes only if that is acceptable.
    /// - Parameters:
    ///   - path: The path of the batch service.
    ///   - services: The paths of the services whose calls are batched; nil for all services on the server.
    ///   - methods: The methods that are batched.
    ///   - window: How long a call waits for others.
    ///   - limit: The maximum number of calls in a batch. A full batch is sent immediately.
    public static func batching(
        over path: String = "batch", services: [String]? = nil, methods: Set<ServiceMethod> = [.find, .get],
        window: Duration = .milliseconds(10), limit: Int = 50
    ) -> Hooks {
        var hooks = Hooks()
        let batcher = CallBatcher(path: path, services: services, limit: limit, window: window)
        for method in methods { hooks.middleware[.method(method)] = [batcher] }
        return hooks
    }
}

/// Combines calls made at the same time into one call to the batch service.
final class CallBatcher: Middleware {
    /// What a caller must do.
    enum Turn: Sendable {
        /// Collect this batch and send it.
        case collect(Int)
        /// Return this result.
        case landed(Result<ServiceResponse, any Error>)
        /// Send the call again, because its batch was abandoned.
        case again
    }

    struct State: Sendable {
        var queue: BatchQueue<BatchKey, BatchedCall>
        var waiters: [Int: Promise<Turn>] = [:]
        /// Settled when the batch is full.
        var fillings: [Int: Promise<Void>] = [:]
        var lastID = 0
    }

    let order = MiddlewareOrder.batching
    private let path: String
    private let services: Set<String>?
    private let timebase: RelativeClock
    /// Called with the number of callers that wait for another caller's batch, each time it increases.
    private let onJoining: @Sendable (Int) -> Void
    private let state: Locked<State>

    init(
        path: String, services: [String]?, limit: Int, window: Duration, clock: any Clock<Duration> = ContinuousClock(),
        onJoining: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.path = FeathersApp.stripSlashes(path)
        self.services = services.map { Set($0.map(FeathersApp.stripSlashes)) }
        self.onJoining = onJoining
        timebase = RelativeClock(clock)
        state = Locked(State(queue: BatchQueue(limit: limit, window: window)))
    }

    func around(_ next: any ServiceProtocol, at site: MiddlewareSite) -> (any ServiceProtocol)? {
        // A batch contains only calls to the app's own server. Other servers' calls must not be disclosed to it.
        guard let service = site.implementation as? TransportService, service.isOwn, let path = site.path, path != self.path,
            services?.contains(path) ?? true
        else { return nil }
        return BatchedService(batcher: self, next: next, site: site)
    }

    func respond(to request: ServiceRequest, by next: any ServiceProtocol, _ site: MiddlewareSite) async throws -> ServiceResponse {
        let params = request.params
        guard !request.method.isCustom, !params.isVolatile, !params.concernsConnection, params.heldResponse == nil, !request.streamsResult,
            !params.travelsByHTTP
        else { return try await next.respond(to: request) }
        let call = try BatchedCall(request)
        let key = BatchKey(sender: site.sender(of: request), headers: params.headers, timeout: params.timeout)
        let start = timebase.now
        while true {
            try Task.checkCancellation()
            let id = state.withLock { state in
                state.lastID += 1
                return state.lastID
            }
            switch try await turn(id, call, key) {
            case .collect(let number): return try await collect(number, id, request, since: start, by: next)
            case .landed(let result): return try result.get()
            case .again: continue
            }
        }
    }

    private func turn(_ id: Int, _ call: BatchedCall, _ key: BatchKey) async throws -> Turn {
        let now = timebase.now
        let waiter = Promise<Turn>()
        let (joining, filling, waiting) = state.withLock { state in
            let joining = state.queue.join(id, call, key, at: now)
            if case .opened(let number) = joining {
                state.fillings[number] = Promise()
                return (joining, nil as Promise<Void>?, 0)
            }
            state.waiters[id] = waiter
            guard case .filled(let number) = joining else { return (joining, nil, state.waiters.count) }
            return (joining, state.fillings[number], state.waiters.count)
        }
        if case .opened(let number) = joining { return .collect(number) }
        filling?.resolve(())
        onJoining(waiting)
        do {
            return try await waiter.value()
        } catch {
            // Leaves the batch if it has not been sent. This caller may have become the collector at the last moment.
            let isGone = state.withLock { state in
                guard state.waiters.removeValue(forKey: id) != nil else { return false }
                _ = state.queue.leave(id)
                return true
            }
            if !isGone, !waiter.fail(error), case .collect(let number)? = waiter.current { handOver(number, id) }
            throw error
        }
    }

    private func settle(_ id: Int, _ turn: Turn) { state.withLock { $0.waiters.removeValue(forKey: id) }?.resolve(turn) }

    // MARK: - Collecting, by the caller that opened the batch

    private func collect(
        _ number: Int, _ id: Int, _ request: ServiceRequest, since start: Duration, by next: any ServiceProtocol
    ) async throws -> ServiceResponse {
        do {
            try await waitUntilClosed(number)
        } catch {
            handOver(number, id)
            throw error
        }
        let members = state.withLock { state in
            state.fillings[number] = nil
            return state.queue.close(number)
        }
        var request = request
        request.params.deductTimeout(since: start, on: timebase)
        guard members.count > 1 else { return try await next.respond(to: request) }
        let results: [Result<ServiceResponse, any Error>]
        do {
            let answer = try await next.respond(to: batch(of: members.map(\.member), like: request)).result
            results = try BatchWireForm.results(of: answer, count: members.count, from: path)
        } catch {
            for (id, call) in members.dropFirst() { settle(id, turn(of: call, afterFailureWith: error)) }
            throw error
        }
        for (member, result) in zip(members, results) { settle(member.id, .landed(result)) }
        return try results[0].get()
    }

    /// Returns what another caller must do after the batch has failed. Cancelling the collector must not fail the others.
    private func turn(of call: BatchedCall, afterFailureWith error: any Error) -> Turn {
        guard error is CancellationError else { return .landed(.failure(error)) }
        if call.isSafeToRepeat { return .again }
        let lost = FeathersError(.unavailable, "The batch that contained this call was cancelled in flight", execution: .mayHaveExecuted)
        return .landed(.failure(lost))
    }

    private func batch(of calls: [BatchedCall], like request: ServiceRequest) -> ServiceRequest {
        var params = Params(headers: request.params.headers, timeout: request.params.timeout)
        params.token = request.params.token
        if calls.allSatisfy(\.isSafeToRepeat) { params.isSafeToRepeat = true }
        var batch = ServiceRequest(path: path, method: .create, data: BatchWireForm.data(of: calls.map(\.arguments)), params: params)
        batch.sender = request.sender
        return batch
    }

    /// - Throws: `CancellationError` if the task is cancelled.
    private func waitUntilClosed(_ number: Int) async throws {
        try Task.checkCancellation()
        let (moment, filling) = state.withLock { ($0.queue.closingMoment(of: number), $0.fillings[number]) }
        guard let moment, let filling else { return }
        try await timebase.sleep(until: moment, or: filling)
        try Task.checkCancellation()
    }

    /// Makes the next member the collector. If that member is cancelled at the same moment, it passes the batch on.
    private func handOver(_ number: Int, _ id: Int) {
        let successor: (id: Int, waiter: Promise<Turn>?)? = state.withLock { state in
            if case .handedOver(let next) = state.queue.leave(id) { return (next, state.waiters.removeValue(forKey: next)) }
            state.fillings[number] = nil
            return nil
        }
        if let successor, successor.waiter?.resolve(.collect(number)) == false { handOver(number, successor.id) }
    }
}

private struct BatchedService: ServiceProtocol {
    let batcher: CallBatcher
    let next: any ServiceProtocol
    let site: MiddlewareSite

    func respond(to request: ServiceRequest) async throws -> ServiceResponse { try await batcher.respond(to: request, by: next, site) }
}
