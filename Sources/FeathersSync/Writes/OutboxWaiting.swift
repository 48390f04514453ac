import FeathersCore
import Foundation

/// Which write waits for which. A write waits for the earlier ones of its lane, for the creations to which it refers,
/// and for the one before it in its group.
///
/// No two writes wait for each other, directly or not. All of these are queued before the write itself, with two
/// exceptions: new data may refer to a later creation, which is refused if that one waits for the write; and a write in
/// flight stays first in its lane when a sign-in adds older writes to it, but it waits for none.
extension OutboxQueue {
    /// Whether a write waits for another one, directly or not.
    func isWaiting(_ id: UUID, for other: UUID) -> Bool {
        var (seen, next): (Set<UUID>, [UUID]) = ([id], [id])
        while let id = next.popLast() {
            if id == other { return true }
            guard let item = items[id] else { continue }
            for write in references.awaited(by: id).union(earlierWrites(than: item)) where seen.insert(write).inserted {
                next.append(write)
            }
        }
        return false
    }

    /// Returns the writes before a write in its lane, also those that were queued while no one was signed in, which
    /// join it at the next sign-in.
    private func earlierWrites(than item: Item) -> [UUID] {
        let name = item.write.lane
        let own = lanes[item.write.ownLane]?.prefix { $0 != item.write.id } ?? []
        let signedOut = lanes[Lane(name: name, identity: nil)]?.filter { id in
            items[id].map { $0.number < item.number } ?? false
        }
        return own + (signedOut ?? [])
    }

    /// Lets a write wait for the creations to which its new data refers, before that is stored.
    /// - Throws: ``FeathersError/Code/badRequest`` if one of them waits for the write.
    mutating func willReplaceData(of id: UUID, with data: JSONValue?) throws(FeathersError) {
        guard var write = items[id]?.write else { return }
        write.data = data
        let found = references.references(of: write)
        guard !found.contains(where: { isWaiting($0, for: id) }) else {
            throw FeathersError(
                .badRequest, "The data refers to a record whose creation waits for the write '\(id.text)'",
                execution: .neverSent)
        }
        references.refer(id, to: found)
    }

    /// Lets restored writes wait for creations that were queued after them, to which a decision has made them refer.
    mutating func referToLaterCreations() {
        for item in inOrder {
            let id = item.write.id
            let later = references.references(of: item.write).filter { creation in
                items[creation].map { $0.number > item.number && !isWaiting(creation, for: id) } ?? false
            }
            guard !later.isEmpty else { continue }
            references.refer(id, to: later)
            refreshLane(item.write.lane)
        }
    }
}
