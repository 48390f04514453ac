import FeathersCore
import FeathersNetworking

extension SocketIOCore {
    /// What follows from calls going out again, once the lock is released.
    struct Opening: Sendable {
        var queue: Outcome
        var oversized: [CallTable<Waiter>.Call]
        var limit: Int
    }

    /// Sends what has waited, in the same moment in which calls need not wait any more: none may overtake another.
    func open(_ link: Link, _ state: inout State) -> Opening {
        let limit = min(link.connection.handshake.maxPayload, options.maximumMessageSize)
        state.isOpen = true
        let taken = state.calls.takeQueue(limit: limit)
        return Opening(queue: handOver(taken.frames, link, &state), oversized: taken.oversized, limit: limit)
    }

    func finish(_ opening: Opening) {
        if case .drain(let link, let frames) = opening.queue { drain(link, frames) }
        for call in opening.oversized { call.waiter.resume(throwing: FeathersError.tooLarge(call.frame.size, limit: opening.limit)) }
    }

    /// Does on a joined connection what plugins do first, then lets calls go out.
    /// - Returns: whether the connection stands.
    func prepare(_ link: Link) async -> Bool {
        // Without plugins calls went out as soon as the namespace was joined.
        guard !link.setups.isEmpty else { return true }
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
        let opening: Opening? = state.withLock { state in
            state.link === link && state.session.isJoined ? open(link, &state) : nil
        }
        guard let opening else { return false }
        finish(opening)
        return true
    }
}
