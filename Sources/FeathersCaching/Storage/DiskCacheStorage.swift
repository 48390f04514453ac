import FeathersCore
public import FeathersSupport
public import Foundation

/// A storage that keeps entries in a SQLite database, which outlives the process.
///
/// Entries are stored completely or not at all, even if a process is killed. A damaged database is replaced by an empty
/// one, and the reads are misses. Any number of instances and processes may share a directory. Before an entry is
/// stored, the least recently used ones are removed, so that the limit is never exceeded.
///
/// Only the owner can read the directory and its files; they are not encrypted. A directory that belongs to another
/// user, or that other users can write to or replace, is rejected with an error that names it. Links are not followed.
/// What is removed is overwritten, and is in no file some seconds later.
///
/// Use one directory for each server, or distinguish the servers with ``CacheOptions/partition``.
public struct DiskCacheStorage: CacheStorage, SecretHiding {
    private let database: CacheDatabase

    /// Creates a storage in a directory, without accessing any file yet.
    /// - Parameters:
    ///   - directory: The directory of the database; created when it is first needed. It should contain nothing else.
    ///   - byteLimit: The maximum total size of the entries, in bytes. Larger ones are not stored. SQLite's log takes up
    ///     to 4 MiB more.
    ///   - synchronizesWrites: Whether a write waits until its bytes are on disk. If `false`, a power failure may lose
    ///     entries, but never returns a wrong one.
    public init(directory: URL, byteLimit: Int = 64 * 1024 * 1024, synchronizesWrites: Bool = false) {
        self.init(
            path: directory.path, byteLimit: byteLimit, synchronizesWrites: synchronizesWrites,
            clock: RelativeClock(ContinuousClock()))
    }

    init(path: String, byteLimit: Int, synchronizesWrites: Bool, clock: RelativeClock) {
        database = CacheDatabase(
            path: path, byteLimit: byteLimit, synchronizesWrites: synchronizesWrites, clock: clock)
    }

    public func entry(for key: CacheKey) async throws -> CacheEntry? { try await database.entry(for: key) }
    public func set(_ entry: CacheEntry, for key: CacheKey) async throws { try await database.set(entry, for: key) }
    public func remove(_ key: CacheKey) async throws {
        try await database.remove("grp = ? AND key = ?", .text(key.group), .text(key.text))
    }
    public func remove(group: String) async throws { try await database.remove("grp = ?", .text(group)) }
    public func removeExpired(olderThan date: Date) async throws {
        try await database.remove("expiry < ?", .double(date.timeIntervalSinceReferenceDate))
    }
    public func removeAll() async throws { try await database.removeAll() }

    /// The total size of the entries, in bytes.
    public var byteCount: Int { get async throws { try await database.byteCount() } }
}
