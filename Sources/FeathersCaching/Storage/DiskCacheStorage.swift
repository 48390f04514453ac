import FeathersCore
public import FeathersSupport
public import Foundation

/// A storage that keeps entries in files, which outlive the process.
///
/// Files are written atomically, even if a process is killed. A file with an invalid checksum is removed, and the read
/// is a miss. Any number of instances and processes may share a directory. The limit is never exceeded: before a file
/// is written, the least recently used files are removed.
///
/// Only the owner can read the directory and its files; they are not encrypted. A directory that belongs to another
/// user, or that other users can write to, is rejected with an error that names it. Links are not followed.
///
/// Use one directory for each server, or distinguish the servers with ``CacheOptions/partition``.
public struct DiskCacheStorage: CacheStorage, SecretHiding {
    private let path: String
    private let byteLimit: Int
    /// The directory that was last read, kept open.
    private let directory: Locked<SafeDirectory?>
    private let index: Locked<DiskIndex>
    private let writer: DiskCacheWriter

    /// Creates a storage in a directory, without accessing any file yet.
    /// - Parameters:
    ///   - directory: The directory of the files; created when it is first needed. It should contain nothing else.
    ///   - byteLimit: The maximum total size of the files, in bytes. Larger entries are not stored.
    ///   - synchronizesWrites: Whether a write waits until its bytes are on disk. If `false`, a power failure may lose
    ///     entries, but never returns a wrong one.
    public init(directory: URL, byteLimit: Int = 64 * 1024 * 1024, synchronizesWrites: Bool = false) {
        self.init(
            path: directory.path, byteLimit: byteLimit, synchronizesWrites: synchronizesWrites,
            clock: RelativeClock(ContinuousClock()))
    }

    init(path: String, byteLimit: Int, synchronizesWrites: Bool, clock: RelativeClock) {
        (self.path, self.byteLimit) = (path, byteLimit)
        directory = Locked(nil)
        index = Locked(DiskIndex())
        writer = DiskCacheWriter(
            path: path, byteLimit: byteLimit, synchronizesWrites: synchronizesWrites, index: index, clock: clock)
    }

    public func entry(for key: CacheKey) async throws -> CacheEntry? {
        let name = key.fileName
        // Runs on the caller's thread: most files are small and in the system's cache, so reading one is faster than
        // switching threads.
        let opened = try SafeDirectory.open(path, reusing: directory.withLock(\.self))
        directory.withLock { if $0 !== opened { $0 = opened } }
        guard let file = try opened?.open(name) else { return nil }
        let bytes = try file.readAll(atMost: byteLimit)
        file.noteUse()
        switch CacheFile.content(of: bytes, for: key) {
        case .entry(let entry):
            index.withLock { $0.use(name) }
            return entry
        case .otherKey: return nil
        case .corrupted:
            try await writer.removeFile(name)
            return nil
        }
    }

    public func set(_ entry: CacheEntry, for key: CacheKey) async throws {
        try await writer.write(CacheFile.bytes(of: entry, for: key), to: key.fileName)
    }

    public func remove(_ key: CacheKey) async throws { try await writer.removeFile(key.fileName) }

    public func remove(group: String) async throws {
        let prefix = CacheKey.filePrefix(ofGroup: group)
        try await writer.removeAll { name, _ in name.hasPrefix(prefix) }
    }

    public func removeExpired(olderThan date: Date) async throws {
        let limit = date.timeIntervalSinceReferenceDate
        try await writer.removeAll { name, directory in
            // A file that cannot be read is useless.
            guard let head = try? directory.open(name)?.read(upTo: CacheFile.headLength) else { return true }
            return CacheFile.expiry(inHeadOf: head).map { $0 < limit } ?? true
        }
    }

    public func removeAll() async throws { try await writer.removeAll { _, _ in true } }

    /// The total size of the files, in bytes.
    package var byteCount: Int {
        get async throws {
            try await writer.scan()
            return index.withLock { $0.bytes }
        }
    }
}

extension CacheKey {
    /// The name of the key's file. It starts with the group, so that the files of a group can be found by name.
    var fileName: String { "\(Self.filePrefix(ofGroup: group))\(SHA256.hex(text.utf8))\(DiskCacheWriter.entrySuffix)" }
    /// A checksum, because a second digest took a quarter of a read. If two groups have the same one, removing either
    /// removes both.
    static func filePrefix(ofGroup group: String) -> String {
        "\(String(XXH64.checksum(of: Array(group.utf8)), radix: 16))-"
    }
}

/// The known state of a cache's files: their sizes, and the order of their use.
struct DiskIndex: Sendable {
    private var files = LeastRecentlyUsed<String, Int>()
    private(set) var bytes = 0

    init(_ files: [SafeDirectory.FileInfo] = []) {
        for file in files.sorted(by: { ($0.lastChange, $0.name) < ($1.lastChange, $1.name) }) {
            set(file.size, for: file.name)
        }
    }

    var names: [String] { Array(files.keys) }
    var oldestName: String? { files.oldestKey }
    mutating func set(_ size: Int, for name: String) { bytes += size - (files.set(size, for: name) ?? 0) }
    mutating func use(_ name: String) { _ = files.use(name) }
    mutating func remove(_ name: String) { bytes -= files.remove(name) ?? 0 }
}

/// Changes the directory of a disk cache, one change at a time across all tasks and processes.
///
/// It runs off the cooperative thread pool, because it waits for the disk. The index is shared with readers, which only
/// record uses in it.
///
/// The lock file contains a counter. A writer increments it before it changes anything. If a writer finds the number
/// that it left, the directory is unchanged since then.
actor DiskCacheWriter {
    static let entrySuffix = ".entry"
    static let lockName = "lock"
    /// Not the name of an entry, so that a partial file is never read.
    private static let draftName = "writing"
    private static let longestWait = Duration.seconds(2)

    private let byteLimit: Int
    private let synchronizesWrites: Bool
    private let index: Locked<DiskIndex>
    private let lock: DirectoryLock
    private let executor = DiskExecutor(label: "feathers.disk-cache")
    /// The number of changes that the index reflects; nil before the directory has been read.
    private var knownChanges: UInt64?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(path: String, byteLimit: Int, synchronizesWrites: Bool, index: Locked<DiskIndex>, clock: RelativeClock) {
        (self.byteLimit, self.synchronizesWrites, self.index) = (byteLimit, synchronizesWrites, index)
        lock = DirectoryLock(path: path, name: Self.lockName, clock: clock)
    }

    /// Writes a file. Evicts the least recently used files first, so that the limit is never exceeded: the file to be
    /// replaced counts until it is replaced.
    func write(_ bytes: [UInt8], to name: String) async throws {
        try await change { directory in
            guard bytes.count <= byteLimit else { return try remove(name, from: directory) }
            while index.withLock({ $0.bytes }) > byteLimit - bytes.count, let oldest = index.withLock({ $0.oldestName })
            {
                try remove(oldest, from: directory)
            }
            try directory.replace(name, with: bytes, draft: Self.draftName, isDurable: synchronizesWrites)
            index.withLock { $0.set(bytes.count, for: name) }
        }
    }

    func removeFile(_ name: String) async throws { try await change { try remove(name, from: $0) } }

    func removeAll(where condition: @Sendable (String, SafeDirectory) -> Bool) async throws {
        try await change { directory in
            for name in index.withLock({ $0.names }) where condition(name, directory) {
                try remove(name, from: directory)
            }
        }
    }

    /// Updates the index, and removes the drafts of writers that died.
    func scan() async throws { try await change { _ in } }

    private func remove(_ name: String, from directory: SafeDirectory) throws {
        try directory.remove(name)
        index.withLock { $0.remove(name) }
    }

    private func change(_ body: (SafeDirectory) throws -> Void) async throws {
        try await lock.withLock(waitingAtMost: Self.longestWait) { held in
            let changes: UInt64 = try held.file.read(upTo: 8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
            if changes != knownChanges {
                try held.directory.remove(Self.draftName)
                let files = try held.directory.files(withSuffix: Self.entrySuffix)
                index.withLock { $0 = DiskIndex(files) }
            }
            // After a change that fails halfway, the index is incomplete. The directory is read again the next time.
            knownChanges = nil
            let next = changes &+ 1
            try held.file.write((0..<8).map { UInt8(truncatingIfNeeded: next >> UInt64($0 * 8)) }, at: 0)
            try body(held.directory)
            knownChanges = next
        }
    }
}
