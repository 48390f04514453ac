import FeathersCore
import Foundation

/// What becomes of decisions.
extension OutboxQueue {
    /// Somebody has decided about a write, which is being written down; meanwhile it is not sent.
    /// - Throws: ``FeathersError/Code/notFound`` where there is no such write, ``FeathersError/Code/conflict`` where it is on its way.
    mutating func decisionBegan(_ id: UUID) throws(FeathersError) {
        guard let item = items[id] else { throw FeathersError(.notFound, "No write \(id.text) is in the outbox", execution: .neverSent) }
        switch item.stage {
        case .sending, .deciding:
            throw FeathersError(.conflict, "The write \(id.text) is on its way: decide when its attempt has ended", execution: .neverSent)
        case .waiting, .retrying: items[id]?.stage = .deciding(failed: false)
        case .failed: items[id]?.stage = .deciding(failed: true)
        }
        refreshLane(item.write.lane)
    }

    /// A decision could not be written down: everything is as it was.
    mutating func decisionFailed(_ id: UUID) {
        guard let item = items[id], case .deciding(let failed) = item.stage else { return }
        items[id]?.stage = failed ? .failed(isAsked: true) : .waiting
        refreshLane(item.write.lane)
    }

    /// A write is to be sent again, as it is or as another one.
    mutating func decided(_ id: UUID, key: UUID? = nil, data: JSONValue? = nil) {
        guard let item = items[id], case .deciding = item.stage else { return }
        if let key {
            items[id]?.write.key = key
            items[id]?.write.data = data
        }
        items[id]?.stage = .waiting
        items[id]?.failure = nil
        items[id]?.delays = 0
        items[id]?.mayHaveExecuted = false
        refreshLane(item.write.lane)
    }
}
