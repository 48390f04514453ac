import FeathersCore

/// Gathers calls that are made at the same time into one call of the batch service.
final class CallBatcher: RequestStage {
    /// What a caller has to do.
    private enum Turn: Sendable {
        /// Collect this batch and send it.
        case collect(Int)
        /// Nothing: the answer is there.
        case landed(Result<JSONValue, any Error>)
        /// Make the call again: its batch was given up.
        case again
        case cancelled
    }

    private struct State: Sendable {
        var queue: BatchQueue<BatchKey, BatchedCall>
        var waiters: [Int: CheckedContinuation<Turn, Never>] = [:]
        /// Settled when the batch is full.
        var fillings: [Int: Promise<Void>] = [:]
        var lastID = 0
    }

    let place = RequestStagePlace.batching
    private let path: String
    private let services: Set<String>?
    private let timebase: Timebase
    private let onJoining: @Sendable (Int) -> Void
    private let state: Locked<State>

    /// - Parameter onJoining: hears how many callers wait for others to send their batches, whenever one more does.
    init(
        path: String, services: [String]?, limit: Int, window: Duration, clock: any Clock<Duration>,
        onJoining: @escaping @Sendable (Int) -> Void
    ) {
        self.path = FeathersApp.stripSlashes(path)
        self.services = services.map { Set($0.map(FeathersApp.stripSlashes)) }
        self.onJoining = onJoining
        timebase = Timebase(clock)
        state = Locked(State(queue: BatchQueue(limit: limit, window: window)))
    }

    func around(_ next: any ServiceProtocol, at site: RequestSite) -> (any ServiceProtocol)? {
        // Only what goes to the server can go there in company.
        guard site.implementation is TransportService, site.path != path, services?.contains(site.path) ?? true else { return nil }
        return BatchedService(batcher: self, next: next, site: site)
    }

    fileprivate func respond(to request: ServiceRequest, by next: any ServiceProtocol, _ site: RequestSite) async throws -> JSONValue {
        let params = request.params
        guard !request.method.isCustom, !params.isVolatile, params[ConnectionCall.self] == nil, params[ConditionalRead.self] == nil
        else { return try await next.respond(to: request) }
        let call = try BatchedCall(request)
        let key = BatchKey(appID: site.appID, partition: site.partition, headers: params.headers, timeout: params.timeout)
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
                // A cancellation before the registration found nobody to wake.
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    /// Gives up waiting, and leaves the batch where that has not gone out.
    private func cancel(_ id: Int) {
        let waiter = state.withLock { state in
            guard let waiter = state.waiters.removeValue(forKey: id) else { return nil as CheckedContinuation<Turn, Never>? }
            _ = state.queue.leave(id)
            return waiter
        }
        waiter?.resume(returning: .cancelled)
    }

    private func collect(
        _ number: Int, _ id: Int, _ request: ServiceRequest, since start: Duration, by next: any ServiceProtocol
    ) async throws -> JSONValue {
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
        if let timeout = request.params.timeout { request.params.timeout = max(timeout - (timebase.now - start), .zero) }
        guard members.count > 1 else { return try await next.respond(to: request) }
        let results: [Result<JSONValue, any Error>]
        do {
            let answer = try await next.respond(to: batch(of: members.map(\.member), like: request))
            results = try BatchWireForm.results(of: answer, count: members.count, from: path)
        } catch {
            for (id, call) in members.dropFirst() { settle(id, turn(of: call, afterFailureWith: error)) }
            throw error
        }
        for (member, result) in zip(members, results) { settle(member.id, .landed(result)) }
        return try results[0].get()
    }

    /// What another caller does when the batch has failed. That its collector was cancelled is nobody's failure but its own.
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
        return ServiceRequest(path: path, method: .create, data: BatchWireForm.data(of: calls.map(\.arguments)), params: params)
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

    private func settle(_ id: Int, _ turn: Turn) {
        state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(returning: turn)
    }
}

private struct BatchedService: ServiceProtocol {
    let batcher: CallBatcher
    let next: any ServiceProtocol
    let site: RequestSite

    func respond(to request: ServiceRequest) async throws -> JSONValue {
        try await batcher.respond(to: request, by: next, site)
    }
}
