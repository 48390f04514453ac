public import FeathersCore
public import Foundation

/// A place where a cache stores entries: ``MemoryCacheStorage``, ``DiskCacheStorage``, both in layers, or your own.
///
/// The cache decides which entries are expired and which are returned. A storage may evict any entry at any time, but
/// must not return another key's entry. Its methods are called concurrently. A read that throws is a miss; a removal
/// that throws is retried before the next read.
public protocol CacheStorage: Sendable {
    /// Returns the entry of a key, expired or not; nil if there is none.
    func entry(for key: CacheKey) async throws -> CacheEntry?

    /// Stores an entry, replacing the current one of the key.
    func set(_ entry: CacheEntry, for key: CacheKey) async throws

    /// Removes an entry. Succeeds if there is none.
    func remove(_ key: CacheKey) async throws

    /// Removes every entry of a group.
    func remove(group: String) async throws

    /// Removes the entries that expired before a date.
    func removeExpired(olderThan date: Date) async throws

    /// Removes every entry.
    func removeAll() async throws
}

/// A cached response.
public struct CacheEntry: Sendable, Equatable {
    /// The server's result, before any hook.
    public var value: JSONValue

    /// When the entry expires; nil for never.
    public var expiration: Date?

    /// The tag by which the server recognizes the response (HTTP's `ETag`), if it sent one.
    public var entityTag: String?

    /// Creates an entry. Without an expiration, it stays fresh forever.
    public init(value: JSONValue, expiration: Date? = nil, entityTag: String? = nil) {
        (self.value, self.expiration, self.entityTag) = (value, expiration, entityTag)
    }

    /// Returns whether the entry is no longer fresh.
    public func isExpired(at now: Date) -> Bool { expiration.map { $0 <= now } ?? false }
    func expired(before date: Date) -> Bool { expiration.map { $0 < date } ?? false }

    /// An estimate of the memory used by the entry, in bytes: its strings, and the overhead of each value.
    var estimatedBytes: Int { value.estimatedBytes + (entityTag?.utf8.count ?? 0) + 64 }
}

extension JSONValue {
    fileprivate var estimatedBytes: Int {
        switch self {
        case .null, .bool, .integer, .number: 16
        case .decimal(let decimal): 16 + decimal.text.utf8.count
        case .string(let string): 16 + string.utf8.count
        case .array(let array): array.reduce(48) { $0 + $1.estimatedBytes }
        case .object(let object): object.reduce(48) { $0 + 16 + $1.key.utf8.count + $1.value.estimatedBytes }
        }
    }
}

/// A fast storage in front of a persistent one: `LayeredCacheStorage(MemoryCacheStorage(), DiskCacheStorage(directory:
/// folder))`.
///
/// Reads try the first storage, then the second, whose entry is copied to the first with the same expiry. Changes go to
/// both, even if one fails.
public struct LayeredCacheStorage: CacheStorage {
    private let first: any CacheStorage
    private let second: any CacheStorage

    /// Creates a storage with a fast layer in front of a persistent one.
    public init(_ first: any CacheStorage, _ second: any CacheStorage) { (self.first, self.second) = (first, second) }

    public func entry(for key: CacheKey) async throws -> CacheEntry? {
        // If the first layer cannot be read, the second may have the entry.
        if let entry = try? await first.entry(for: key) { return entry }
        guard let entry = try await second.entry(for: key) else { return nil }
        try? await first.set(entry, for: key)
        return entry
    }

    public func set(_ entry: CacheEntry, for key: CacheKey) async throws {
        try await both { try await $0.set(entry, for: key) }
    }
    public func remove(_ key: CacheKey) async throws { try await both { try await $0.remove(key) } }
    public func remove(group: String) async throws { try await both { try await $0.remove(group: group) } }
    public func removeExpired(olderThan date: Date) async throws {
        try await both { try await $0.removeExpired(olderThan: date) }
    }
    public func removeAll() async throws { try await both { try await $0.removeAll() } }

    /// Changes the second, persistent layer first: a read in the meantime must not promote an entry that is about to be
    /// removed.
    private func both(_ change: (any CacheStorage) async throws -> Void) async throws {
        var failure: (any Error)?
        for storage in [second, first] {
            do { try await change(storage) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}
