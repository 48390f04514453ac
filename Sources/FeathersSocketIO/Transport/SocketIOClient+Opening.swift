import FeathersCore
import FeathersNetworking
import FeathersSupport

extension SocketIOClient {
    /// Does on a joined connection what plugins do first, then lets calls go out.
    /// - Returns: whether the connection stands.
    func prepare(_ link: Link, recovered: Bool) async -> Bool {
        if !link.setups.isEmpty {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for setup in link.setups where !Task.isCancelled {
                        await setup.prepare { try await self.call($0, over: link) }
                    }
                }
                group.addTask { _ = try? await link.ended.value() }
                await group.next()
                group.cancelAll()
            }
            guard !Task.isCancelled else { return false }
        }
        return open(link, recovered: recovered)
    }

    /// Sends what has waited, in the same moment in which calls need not wait any more and the status says so: no call may overtake
    /// another, and none is answered over a connection that is said not to stand.
    private func open(_ link: Link, recovered: Bool) -> Bool {
        let limit = min(link.connection.handshake.maxPayload, options.maximumMessageSize)
        var oversized: [CallTable<Waiter>.Call] = []
        var outcome = Outcome.waits
        let isOpen = state.withLock { state in
            guard state.link === link, state.session.isJoined else { return false }
            state.isOpen = true
            let taken = state.calls.takeQueue(limit: limit)
            oversized = taken.oversized
            outcome = handOver(taken.frames, link, &state)
            status.enqueue(.connected(recovered: recovered))
            return true
        }
        guard isOpen else { return false }
        status.deliver()
        if case .drain(let link, let frames) = outcome { drain(link, frames) }
        for call in oversized { call.waiter.resume(throwing: FeathersError.tooLarge(call.frame.size, limit: limit)) }
        return true
    }
}
