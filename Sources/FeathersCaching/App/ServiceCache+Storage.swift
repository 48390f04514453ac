import FeathersCore
import FeathersSupport

extension ServiceCache {
    /// What the storage has for a read; nil where it has nothing, where what it has was invalidated, and where it fails.
    func find(_ terms: CachedRead.Terms) async -> CacheEntry? {
        let group = terms.key.group
        await removeStale(invalidation.withLock { $0.removals(for: group) })
        let stamp = invalidation.withLock { $0.isStale(group) ? nil : $0.stamp(of: group) }
        guard let stamp, let entry = await entry(for: terms.key) else { return nil }
        let isCurrent = invalidation.withLock { invalidation in
            if invalidation.stamp(of: group) == stamp { return true }
            invalidation.distrust(group)
            return false
        }
        guard isCurrent, holds(terms) else { return nil }
        guard options.keepsExpired || !entry.isExpired(at: options.now()) else {
            await attempt { try await storage.remove(terms.key) }
            return nil
        }
        return entry
    }

    private func entry(for key: CacheKey) async -> CacheEntry? {
        do {
            return try await storage.entry(for: key)
        } catch {
            options.onFailure(error)
            return nil
        }
    }

    /// Keeps an answer, unless it was overtaken by an invalidation or belongs to somebody who is gone.
    func keep(_ entry: CacheEntry, _ terms: CachedRead.Terms, _ stamp: CacheInvalidation.Stamp) async {
        let key = terms.key
        guard holds(terms), invalidation.withLock({ $0.beginWrite(in: key.group, stamp) }) else { return }
        let isKept = await attempt { try await storage.set(entry, for: key) }
        // What could not be replaced must not look like the newest.
        if !isKept { await attempt { try await storage.remove(key) } }
        invalidation.withLock { $0.endWrite(in: key.group, stamp) }
    }

    /// Whether the user is still the one the read began for.
    func holds(_ terms: CachedRead.Terms) -> Bool {
        terms.start.app.cachePartition == terms.partition && options.partition(terms.start) == terms.ownPartition
    }

    /// Removes what was invalidated. What fails is tried again before the next read.
    func removeStale(_ removals: [CacheInvalidation.Removal]) async {
        for removal in removals {
            let isRemoved = await attempt {
                switch removal {
                case .all: try await storage.removeAll()
                case .group(let group, _): try await storage.remove(group: group)
                }
            }
            if isRemoved { invalidation.withLock { $0.removed(removal) } }
        }
    }

    /// - Returns: whether it succeeded; the options hear of failures.
    @discardableResult
    private func attempt(_ change: () async throws -> Void) async -> Bool {
        do {
            try await change()
            return true
        } catch {
            options.onFailure(error)
            return false
        }
    }
}
