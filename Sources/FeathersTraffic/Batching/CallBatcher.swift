public import FeathersCore
import FeathersSupport

extension Hooks {
    /// Sends calls that are made at the same time as one call of the server's batch service, FeathersJS' `feathers-batch`.
    ///
    /// ```swift
    /// app.addHooks(.batching(over: "batch", services: ["messages", "users"]))
    /// ```
    ///
    /// Requests are batched after the hooks of each call have run; the batch itself runs no hooks. Each call gets its own result or error, and its
    /// own hooks see it. Calls share a batch when they carry the same header fields and timeout, and are made by the same user. A call without
    /// company is sent as usual, and so are custom methods, which the batch service does not support. If a batch fails as a whole, all of its
    /// calls fail.
    ///
    /// The call that opens a batch sends it. If it is cancelled meanwhile, the reads of the others are made again, and their writes fail with
    /// ``FeathersError/Code/unavailable`` and may have been executed. Batch writes only where that is acceptable.
    /// - Parameters:
    ///   - path: The path of the batch service.
    ///   - services: The paths of the services whose calls are batched; nil for all services on the server.
    ///   - methods: The methods that are batched.
    ///   - window: How long a call waits for others.
    ///   - limit: How many calls a batch can have. The last one sends it at once.
    ///   - clock: Measures the window.
    public static func batching(
        over path: String = "batch", services: [String]? = nil, methods: Set<ServiceMethod> = [.find, .get],
        window: Duration = .milliseconds(10), limit: Int = 50, clock: any Clock<Duration> = ContinuousClock()
    ) -> Hooks {
        batching(over: path, services: services, methods: methods, window: window, limit: limit, clock: clock) { _ in }
    }

    /// - Parameter onJoining: Called with the number of callers that wait for others to send their batches, each time one more does.
    package static func batching(
        over path: String = "batch", services: [String]? = nil, methods: Set<ServiceMethod> = [.find, .get],
        window: Duration = .milliseconds(10), limit: Int = 50, clock: any Clock<Duration> = ContinuousClock(),
        onJoining: @escaping @Sendable (Int) -> Void
    ) -> Hooks {
        var hooks = Hooks()
        let batcher = CallBatcher(path: path, services: services, limit: limit, window: window, clock: clock, onJoining: onJoining)
        for method in methods { hooks.middleware[.method(method)] = [batcher] }
        return hooks
    }
}

/// Sends calls that are made at the same time as one call of the batch service.
private final class CallBatcher: Middleware {
    /// What a caller has to do.
    enum Turn: Sendable {
        /// Collect this batch and send it.
        case collect(Int)
        /// Nothing: the answer is there.
        case landed(Result<ServiceResponse, any Error>)
        /// Make the call again, since its batch was abandoned.
        case again
        case cancelled
    }

    struct State: Sendable {
        var queue: BatchQueue<BatchKey, BatchedCall>
        var waiters: [Int: CheckedContinuation<Turn, Never>] = [:]
        /// Settled when the batch is full.
        var fillings: [Int: Promise<Void>] = [:]
        var lastID = 0
    }

    let order = MiddlewareOrder.batching
    private let path: String
    private let services: Set<String>?
    private let timebase: RelativeClock
    private let onJoining: @Sendable (Int) -> Void
    private let state: Locked<State>

    init(
        path: String, services: [String]?, limit: Int, window: Duration, clock: any Clock<Duration>,
        onJoining: @escaping @Sendable (Int) -> Void
    ) {
        self.path = FeathersApp.stripSlashes(path)
        self.services = services.map { Set($0.map(FeathersApp.stripSlashes)) }
        self.onJoining = onJoining
        timebase = RelativeClock(clock)
        state = Locked(State(queue: BatchQueue(limit: limit, window: window)))
    }

    func around(_ next: any ServiceProtocol, at site: MiddlewareSite) -> (any ServiceProtocol)? {
        // Only calls that go to the server can be sent there together.
        guard site.implementation is TransportService, let path = site.path, path != self.path, services?.contains(path) ?? true else {
            return nil
        }
        return BatchedService(batcher: self, next: next, site: site)
    }

    func respond(to request: ServiceRequest, by next: any ServiceProtocol, _ site: MiddlewareSite) async throws -> ServiceResponse {
        let params = request.params
        guard !request.method.isCustom, !params.isVolatile, !params.concernsConnection, params.heldAnswer == nil
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
            switch await turn(id, call, key) {
            case .collect(let number): return try await collect(number, id, request, since: start, by: next)
            case .landed(let result): return try result.get()
            case .again: continue
            case .cancelled: throw CancellationError()
            }
        }
    }

    private func turn(_ id: Int, _ call: BatchedCall, _ key: BatchKey) async -> Turn {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let now = timebase.now
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
                if case .opened(let number) = joining { return waiter.resume(returning: .collect(number)) }
                filling?.resolve(())
                onJoining(waiting)
                // A cancellation before the registration found no waiter to resume.
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    /// Stops waiting, and leaves the batch if it has not been sent.
    private func cancel(_ id: Int) {
        let waiter = state.withLock { state in
            guard let waiter = state.waiters.removeValue(forKey: id) else { return nil as CheckedContinuation<Turn, Never>? }
            _ = state.queue.leave(id)
            return waiter
        }
        waiter?.resume(returning: .cancelled)
    }

    private func settle(_ id: Int, _ turn: Turn) {
        state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(returning: turn)
    }
}

// MARK: - Collecting, done by the caller that opened the batch

extension CallBatcher {
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

    /// What another caller does when the batch has failed. A cancellation of the collector must not fail the others.
    private func turn(of call: BatchedCall, afterFailureWith error: any Error) -> Turn {
        guard error is CancellationError else { return .landed(.failure(error)) }
        if call.isSafeToRepeat { return .again }
        return .landed(
            .failure(
                FeathersError(.unavailable, "The batch this call was part of was given up on its way", execution: .mayHaveExecuted)))
    }

    private func batch(of calls: [BatchedCall], like request: ServiceRequest) -> ServiceRequest {
        var params = Params(headers: request.params.headers, timeout: request.params.timeout)
        if calls.allSatisfy(\.isSafeToRepeat) { params.isSafeToRepeat = true }
        var batch = ServiceRequest(path: path, method: .create, data: BatchWireForm.data(of: calls.map(\.arguments)), params: params)
        batch.sender = request.sender
        return batch
    }

    /// - Throws: `CancellationError` when the task is cancelled.
    private func waitUntilClosed(_ number: Int) async throws {
        try Task.checkCancellation()
        let (moment, filling) = state.withLock { ($0.queue.closingMoment(of: number), $0.fillings[number]) }
        guard let moment, let filling else { return }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.timebase.sleep(until: moment) }
            group.addTask { try await filling.value() }
            defer { group.cancelAll() }
            try await group.next()
        }
        try Task.checkCancellation()
    }

    private func handOver(_ number: Int, _ id: Int) {
        let successor = state.withLock { state in
            switch state.queue.leave(id) {
            case .handedOver(let next): return state.waiters.removeValue(forKey: next)
            case .left, .none:
                state.fillings[number] = nil
                return nil
            }
        }
        successor?.resume(returning: .collect(number))
    }
}

private struct BatchedService: ServiceProtocol {
    let batcher: CallBatcher
    let next: any ServiceProtocol
    let site: MiddlewareSite

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        try await batcher.respond(to: request, by: next, site)
    }
}
