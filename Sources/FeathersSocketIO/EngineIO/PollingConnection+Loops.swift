import FeathersCore
import FeathersNetworking
import FeathersSupport

extension PollingConnection {
    /// Polls one GET after the other.
    func poll(_ handler: @Sendable (EnginePacket) -> Void) async {
        while !Task.isCancelled, state.withLock({ !$0.isPausing && $0.closure == nil }) {
            do {
                // The heartbeat is the session's to judge; this only keeps a dead request from waiting for ever.
                let packets = try await requests.poll(sid: handshake.sid, timeout: handshake.silence * 2)
                packets.forEach(handler)
                if packets.contains(.close) { return end(.lost) }
                if packets.contains(.noop), let probe = state.withLock({ $0.probe }) { try await probe.value() }
                // Answered with nothing but the word that polling is over.
                if state.withLock({ $0.isClosing }), packets == [.noop] { return }
            } catch {
                return failed(error)
            }
        }
    }

    /// Posts what is queued, one POST after the other.
    func post() async {
        for await _ in sendings {
            while let batch = takeBatch() {
                do {
                    try await requests.post(batch, sid: handshake.sid)
                    if batch.last == EnginePacket.close.frame { return end(.closed) }
                } catch {
                    if let error = error as? PollingError, error.neverSent { state.withLock { $0.queue.putBack(batch) } }
                    return failed(error)
                }
            }
            if Task.isCancelled || state.withLock({ $0.isPausing || $0.closure != nil }) { return }
        }
    }

    private func takeBatch() -> [EngineFrame]? {
        state.withLock { state in
            guard !state.isPausing, state.closure == nil, !state.queue.isEmpty else { return nil }
            return state.queue.takeBatch()
        }
    }

    private func failed(_ error: any Error) {
        switch error {
        case let error as PollingError: end(error.isInvalid ? .invalid(error.message) : .failed(error.message))
        default: end(.closed)
        }
    }
}
