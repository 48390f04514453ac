#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Where a cache keeps answers: ``MemoryCacheStorage``, ``DiskCacheStorage``, both in layers, or one of your own.
///
/// A storage keeps and forgets; what is expired and what is shown, the cache decides. It may forget any answer at any time but never gives
/// another's. Its methods are called concurrently. A read that throws counts as a miss; a removal that throws is tried again before the next read.
public protocol CacheStorage: Sendable {
    /// The answer of a key, expired or not; nil where there is none.
    func entry(for key: CacheKey) async throws -> CacheEntry?

    /// Keeps an answer in place of the key's present one.
    func set(_ entry: CacheEntry, for key: CacheKey) async throws

    /// Removes an answer; that there is none is no error.
    func remove(_ key: CacheKey) async throws

    /// Removes every answer of a group.
    func remove(group: String) async throws

    /// Removes the answers that expired before a date.
    func removeExpired(olderThan date: Date) async throws

    /// Removes every answer.
    func removeAll() async throws
}
