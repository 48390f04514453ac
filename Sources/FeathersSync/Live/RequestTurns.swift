// Locks: `RequestTurns.state` guards who has a turn and who waits. It is not held while another lock is.

import FeathersCore
import FeathersSupport

/// Lets the requests for the related records of a live query go in order, six at a time.
final class RequestTurns: Sendable {
    private struct State: Sendable {
        var queue = TurnQueue<Promise<Void>>(limit: RequestedIDs.concurrency, capacity: .max)
        var lastID = 0
    }

    private let state = Locked(State())

    func run<Result>(_ body: () async throws -> Result) async throws -> Result {
        try await enter()
        defer { leave() }
        return try await body()
    }

    private func enter() async throws {
        let waiting = state.withLock { state -> (id: Int, turn: Promise<Void>)? in
            state.lastID += 1
            let turn = Promise<Void>()
            return state.queue.enter(state.lastID, turn) == .goes ? nil : (state.lastID, turn)
        }
        guard let (id, turn) = waiting else { return }
        do { try await turn.value() } catch {
            _ = state.withLock { $0.queue.giveUp(id) }
            // The turn may have been granted at the last moment.
            if !turn.fail(error) { leave() }
            throw error
        }
    }

    private func leave() { while let turn = state.withLock({ $0.queue.leave() }), !turn.resolve(()) {} }
}
