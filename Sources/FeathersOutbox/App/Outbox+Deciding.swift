import FeathersCore
import FeathersSupport
public import Foundation

extension Outbox {
    /// Decides about a write: one that waits for a decision, or any that is not on its way.
    /// - Throws: ``FeathersError/Code/notFound`` where there is no such write, ``FeathersError/Code/conflict`` while it is on its way, and why the
    ///   decision could not be written down; nothing has changed then.
    public func decide(_ decision: OutboxDecision, for id: UUID) async throws {
        let item = try change { state in
            try state.queue.decisionBegan(id)
            return state.queue.items[id]
        }
        guard let item else { return }
        let key = UUID()
        let data = replacement(decision, for: item.write)
        do {
            switch decision {
            case .discard: try await journal.append(.ended(id))
            case .retry: try await journal.append(.released(id))
            case .replace: try await journal.append(.replaced(id, key: key, data: data ?? .null))
            }
        } catch {
            change { $0.queue.decisionFailed(id) }
            throw error
        }
        switch decision {
        case .discard: finish(id)?.fail(item.failure?.error ?? Self.discarded)
        case .retry: change { $0.queue.decided(id) }
        case .replace: change { $0.queue.decided(id, key: key, data: data) }
        }
    }

    /// Takes a write out that is done with.
    /// - Returns: what those wait for who want its result.
    func finish(_ id: UUID) -> Promise<JSONValue>? {
        change { state in
            state.queue.remove(id)
            return state.results.removeValue(forKey: id)
        }
    }

    /// The other data; a record that is created keeps the id it was given, since later writes may name it.
    private func replacement(_ decision: OutboxDecision, for write: OutboxWrite) -> JSONValue? {
        guard case .replace(var data) = decision else { return nil }
        if write.method == .create, let property = options.service(at: write.path).recordIDProperty, data.object != nil,
            data[property] == nil, let id = write.data?[property]
        {
            data[property] = id
        }
        return data
    }

    private static var discarded: FeathersError {
        FeathersError(.gone, "The write was given up before it was sent", execution: .neverSent)
    }
}
