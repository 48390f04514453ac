import FeathersSupport

/// A call that can be left although it goes on: one of a transport that keeps no connection whose end would fail it.
final class AbandonableCall: Sendable {
    private struct State {
        var waiter: CheckedContinuation<Result<JSONValue, any Error>, Never>?
        var result: Result<JSONValue, any Error>?
    }

    private let state = Locked(State())

    /// Runs the call beside the one who waits for it, who is therefore free to leave: one child task a call is what that costs.
    /// - Throws: what the call throws; ``FeathersError/Code/unavailable`` where it was abandoned first.
    func run(_ call: @escaping @Sendable () async throws -> JSONValue) async throws -> JSONValue {
        // Cancelled, the call is what ends; abandoned, it is cancelled as the scope ends.
        async let _: Void = go(call)
        // As a value: resumed with an error, a generic continuation may box it once more, and its type is not to be told any more.
        let result = await withCheckedContinuation { waiter in
            let result = state.withLock { state in
                if state.result == nil { state.waiter = waiter }
                return state.result
            }
            if let result { waiter.resume(returning: result) }
        }
        switch result {
        case .success(let value): return value
        case .failure(let error): throw error
        }
    }

    private func go(_ call: @Sendable () async throws -> JSONValue) async {
        do { settle(.success(try await call())) } catch { settle(.failure(error)) }
    }

    func abandon() {
        settle(.failure(FeathersError(.unavailable, "The app was shut down before the answer came", execution: .mayHaveExecuted)))
    }

    private func settle(_ result: Result<JSONValue, any Error>) {
        let waiter = state.withLock { state in
            guard state.result == nil else { return nil as CheckedContinuation<Result<JSONValue, any Error>, Never>? }
            state.result = result
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: result)
    }
}
