/// Lets identical requests that happen at the same time share one.
///
/// The first caller makes the request in its own task, the others wait. Where the first is cancelled, the next one takes over: nobody's cancellation
/// is anybody else's failure, and no task is needed that belongs to nobody.
package final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// What a caller has to do.
    private enum Turn: Sendable {
        /// Make the request.
        case lead
        /// Nothing: the request has come to an end.
        case landed(Result<Value, any Error>)
        /// Nothing: the caller was cancelled.
        case cancelled
    }

    private struct Waiter: Sendable {
        let id: Int
        let continuation: CheckedContinuation<Turn, Never>
    }

    private struct State: Sendable {
        var waiters: [Key: [Waiter]] = [:]
        var lastID = 0
    }

    private let state = Locked(State())
    private let onWaiting: @Sendable (Int) -> Void

    /// - Parameter onWaiting: hears how many callers wait for one request, whenever one more does.
    package init(onWaiting: @escaping @Sendable (Int) -> Void = { _ in }) {
        self.onWaiting = onWaiting
    }

    /// The value of a request of one's own, or of the identical one that is under way.
    /// - Throws: what the request throws, and `CancellationError` where the calling task is cancelled.
    package func value(of key: Key, _ request: () async throws -> Value) async throws -> Value {
        if Leading.isLeading { return try await request() }
        switch await turn(for: key) {
        case .landed(let result): return try result.get()
        case .cancelled: throw CancellationError()
        case .lead: break
        }
        do {
            let value = try await Leading.$isLeading.withValue(true, operation: request)
            land(key, .success(value))
            return value
        } catch {
            if error is CancellationError || Task.isCancelled { handOver(key) } else { land(key, .failure(error)) }
            throw error
        }
    }

    private func turn(for key: Key) async -> Turn {
        let id: Int? = state.withLock { state in
            guard state.waiters[key] != nil else {
                state.waiters[key] = []
                return nil
            }
            state.lastID += 1
            return state.lastID
        }
        guard let id else { return .lead }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiting = state.withLock { state in
                    // The request may have landed since.
                    guard state.waiters[key] != nil else {
                        state.waiters[key] = []
                        return 0
                    }
                    state.waiters[key]?.append(Waiter(id: id, continuation: continuation))
                    return state.waiters[key]?.count ?? 0
                }
                if waiting == 0 { return continuation.resume(returning: .lead) }
                onWaiting(waiting)
                // A cancellation before the registration found nobody to wake.
                if Task.isCancelled { cancel(id, key) }
            }
        } onCancel: {
            cancel(id, key)
        }
    }

    private func land(_ key: Key, _ result: Result<Value, any Error>) {
        let waiters = state.withLock { $0.waiters.removeValue(forKey: key) ?? [] }
        for waiter in waiters { waiter.continuation.resume(returning: .landed(result)) }
    }

    private func handOver(_ key: Key) {
        let next: Waiter? = state.withLock { state in
            guard state.waiters[key]?.isEmpty == false else {
                state.waiters[key] = nil
                return nil
            }
            return state.waiters[key]?.removeFirst()
        }
        next?.continuation.resume(returning: .lead)
    }

    private func cancel(_ id: Int, _ key: Key) {
        let waiter: Waiter? = state.withLock { state in
            guard let place = state.waiters[key]?.firstIndex(where: { $0.id == id }) else { return nil }
            return state.waiters[key]?.remove(at: place)
        }
        waiter?.continuation.resume(returning: .cancelled)
    }
}

/// Whether the current task makes a request that others may wait for. Such a one never waits itself: what it waited for might wait for it.
private enum Leading {
    @TaskLocal static var isLeading = false
}
