import FeathersCore
public import FeathersSupport
public import Foundation

/// A storage that keeps entries in memory, and evicts the least recently used ones when a limit is exceeded.
public final class MemoryCacheStorage: CacheStorage, SecretHiding {
    private struct Kept: Sendable {
        let entry: CacheEntry
        let bytes: Int
    }

    private struct State: Sendable {
        var kept = LeastRecentlyUsed<CacheKey, Kept>()
        var groups: [String: Set<CacheKey>] = [:]
        var bytes = 0

        mutating func remove(_ key: CacheKey) {
            guard let removed = kept.remove(key) else { return }
            bytes -= removed.bytes
            groups[key.group]?.remove(key)
            if groups[key.group]?.isEmpty == true { groups[key.group] = nil }
        }
    }

    private let countLimit: Int
    private let byteLimit: Int
    private let state = Locked(State())

    /// Creates an empty storage with limits for the number of entries and for their estimated size in bytes. Larger
    /// entries are not stored.
    public init(countLimit: Int = 1000, byteLimit: Int = 32 * 1024 * 1024) {
        (self.countLimit, self.byteLimit) = (countLimit, byteLimit)
    }

    /// The number of entries.
    public var count: Int { state.withLock { $0.kept.count } }
    /// The estimated size of the entries, in bytes.
    public var byteCount: Int { state.withLock { $0.bytes } }

    public func entry(for key: CacheKey) async throws -> CacheEntry? { state.withLock { $0.kept.use(key)?.entry } }

    public func set(_ entry: CacheEntry, for key: CacheKey) async throws {
        // Outside the lock, because it traverses the whole value.
        let bytes = entry.estimatedBytes + key.text.utf8.count
        state.withLock { state in
            state.remove(key)
            guard bytes <= byteLimit, countLimit > 0 else { return }
            state.kept.set(Kept(entry: entry, bytes: bytes), for: key)
            state.groups[key.group, default: []].insert(key)
            state.bytes += bytes
            while state.kept.count > countLimit || state.bytes > byteLimit, let oldest = state.kept.oldestKey {
                state.remove(oldest)
            }
        }
    }

    public func remove(_ key: CacheKey) async throws { state.withLock { $0.remove(key) } }

    public func remove(group: String) async throws {
        state.withLock { state in
            for key in state.groups[group] ?? [] { state.remove(key) }
        }
    }

    public func removeExpired(olderThan date: Date) async throws {
        state.withLock { state in
            let expired = state.kept.keys.filter { state.kept.peek($0)?.entry.expired(before: date) == true }
            for key in expired { state.remove(key) }
        }
    }

    public func removeAll() async throws { state.withLock { $0 = State() } }
}
