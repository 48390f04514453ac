import FeathersCore
import FeathersSupport

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ServiceCache {
    /// Empties a group: that of a service is its path unless its options say otherwise.
    ///
    /// From the moment of the call nothing of the group is shown, nor kept of what is still on its way.
    public func invalidate(group: String) async {
        invalidation.withLock { $0.invalidate(group) }
        await removeStale(invalidation.withLock { $0.removals(for: group) })
    }

    /// Empties the storage.
    public func invalidateAll() async {
        invalidation.withLock { $0.invalidateAll() }
        await removeStale(invalidation.withLock { $0.removals })
    }

    /// Removes the answers that expired before a date, now unless said otherwise.
    /// - Throws: what the storage throws.
    public func removeExpired(olderThan date: Date? = nil) async throws {
        try await storage.removeExpired(olderThan: date ?? options.now())
    }

    /// Hears of changes by others. It counts them at once; what is stored is removed in the background, or before the next read.
    var eventSink: EventSink {
        EventSink(
            onEvent: { event in
                guard EventName.standard.contains(event.name) else { return }
                let group = self.group(ofServiceAt: event.path)
                self.invalidation.withLock { $0.invalidate(group) }
                self.background.removeStale()
            },
            onGap: { _ in
                // Nobody knows what was missed.
                self.invalidation.withLock { $0.invalidateAll() }
                self.background.removeStale()
            })
    }
}
