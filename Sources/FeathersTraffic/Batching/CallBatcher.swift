import FeathersCore
import FeathersSupport

/// Gathers calls that are made at the same time into one call of the batch service.
final class CallBatcher: RequestStage {
    /// What a caller has to do.
    enum Turn: Sendable {
        /// Collect this batch and send it.
        case collect(Int)
        /// Nothing: the answer is there.
        case landed(Result<JSONValue, any Error>)
        /// Make the call again: its batch was given up.
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

    let place = RequestStagePlace.batching
    let path: String
    private let services: Set<String>?
    let timebase: RelativeClock
    private let onJoining: @Sendable (Int) -> Void
    let state: Locked<State>

    /// - Parameter onJoining: hears how many callers wait for others to send their batches, whenever one more does.
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

    func settle(_ id: Int, _ turn: Turn) {
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
