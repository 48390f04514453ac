import FeathersCore
import FeathersSupport

/// Collecting a batch and sending it, which is for the caller to do who opened it.
extension CallBatcher {
    func collect(
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
}
