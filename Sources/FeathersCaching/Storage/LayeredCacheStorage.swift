#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A fast storage before a lasting one: `LayeredCacheStorage(MemoryCacheStorage(), DiskCacheStorage(directory: folder))`.
///
/// Reads ask the first and then the second, whose answer the first then keeps too, with the same expiry. Changes go to both, to the second also where the
/// first one failed.
public struct LayeredCacheStorage: CacheStorage {
    private let first: any CacheStorage
    private let second: any CacheStorage

    /// Puts one storage before another: the first is asked first, the second is the one that lasts.
    public init(_ first: any CacheStorage, _ second: any CacheStorage) {
        self.first = first
        self.second = second
    }

    public func entry(for key: CacheKey) async throws -> CacheEntry? {
        // A layer that cannot be read is no reason not to ask the other.
        if let entry = try? await first.entry(for: key) { return entry }
        guard let entry = try await second.entry(for: key) else { return nil }
        try? await first.set(entry, for: key)
        return entry
    }

    public func set(_ entry: CacheEntry, for key: CacheKey) async throws {
        try await both { try await $0.set(entry, for: key) }
    }

    public func remove(_ key: CacheKey) async throws {
        try await both { try await $0.remove(key) }
    }

    public func remove(group: String) async throws {
        try await both { try await $0.remove(group: group) }
    }

    public func removeExpired(olderThan date: Date) async throws {
        try await both { try await $0.removeExpired(olderThan: date) }
    }

    public func removeAll() async throws {
        try await both { try await $0.removeAll() }
    }

    /// The second, lasting one first: whoever reads meanwhile must not promote what is about to go.
    private func both(_ change: (any CacheStorage) async throws -> Void) async throws {
        var failure: (any Error)?
        for storage in [second, first] {
            do { try await change(storage) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}
