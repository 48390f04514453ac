public import FeathersCore
public import Foundation

/// Where a cache keeps answers: ``MemoryCacheStorage``, ``DiskCacheStorage``, both in layers, or one of your own.
///
/// A storage keeps and forgets answers; the cache decides which are expired and which are shown. A storage may forget any answer at any time, but must not
/// return that of another key. Its methods are called concurrently. A read that throws counts as a miss; a removal that throws is tried again before the
/// next read.
public protocol CacheStorage: Sendable {
    /// The answer of a key, expired or not; nil where there is none.
    func entry(for key: CacheKey) async throws -> CacheEntry?

    /// Keeps an answer. It replaces the present one of the key.
    func set(_ entry: CacheEntry, for key: CacheKey) async throws

    /// Removes an answer. Succeeds where there is none.
    func remove(_ key: CacheKey) async throws

    /// Removes every answer of a group.
    func remove(group: String) async throws

    /// Removes the answers that expired before a date.
    func removeExpired(olderThan date: Date) async throws

    /// Removes every answer.
    func removeAll() async throws
}

/// A kept answer.
public struct CacheEntry: Sendable, Equatable {
    /// The server's result, before any hook.
    public var value: JSONValue

    /// When it expires; nil for never.
    public var expiration: Date?

    /// The tag by which the server recognizes the answer (HTTP's `ETag`), where it sent one.
    public var entityTag: String?

    /// Creates an entry. Without an expiration, it stays fresh for ever.
    public init(value: JSONValue, expiration: Date? = nil, entityTag: String? = nil) {
        (self.value, self.expiration, self.entityTag) = (value, expiration, entityTag)
    }

    func isExpired(at now: Date) -> Bool { expiration.map { $0 <= now } ?? false }
    func expired(before date: Date) -> Bool { expiration.map { $0 < date } ?? false }

    /// An estimate of the memory that the entry takes, in bytes: its texts, and the overhead of each value.
    var estimatedBytes: Int { value.estimatedBytes + (entityTag?.utf8.count ?? 0) + 64 }
}

extension JSONValue {
    fileprivate var estimatedBytes: Int {
        switch self {
        case .null, .bool, .integer, .number: 16
        case .string(let string): 16 + string.utf8.count
        case .array(let array): array.reduce(48) { $0 + $1.estimatedBytes }
        case .object(let object): object.reduce(48) { $0 + 16 + $1.key.utf8.count + $1.value.estimatedBytes }
        }
    }
}

/// A fast storage before a lasting one: `LayeredCacheStorage(MemoryCacheStorage(), DiskCacheStorage(directory: folder))`.
///
/// Reads ask the first storage and then the second, whose answer the first then keeps too, with the same expiry. Changes go to both, even where one fails.
public struct LayeredCacheStorage: CacheStorage {
    private let first: any CacheStorage
    private let second: any CacheStorage

    /// Puts a fast storage before a lasting one.
    public init(_ first: any CacheStorage, _ second: any CacheStorage) { (self.first, self.second) = (first, second) }

    public func entry(for key: CacheKey) async throws -> CacheEntry? {
        // Where the first layer cannot be read, the second may have the answer.
        if let entry = try? await first.entry(for: key) { return entry }
        guard let entry = try await second.entry(for: key) else { return nil }
        try? await first.set(entry, for: key)
        return entry
    }

    public func set(_ entry: CacheEntry, for key: CacheKey) async throws { try await both { try await $0.set(entry, for: key) } }
    public func remove(_ key: CacheKey) async throws { try await both { try await $0.remove(key) } }
    public func remove(group: String) async throws { try await both { try await $0.remove(group: group) } }
    public func removeExpired(olderThan date: Date) async throws { try await both { try await $0.removeExpired(olderThan: date) } }
    public func removeAll() async throws { try await both { try await $0.removeAll() } }

    /// Changes the second, lasting one first: a read in the meantime must not promote what is about to be removed.
    private func both(_ change: (any CacheStorage) async throws -> Void) async throws {
        var failure: (any Error)?
        for storage in [second, first] {
            do { try await change(storage) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}
