import FeathersCore
import FeathersSupport
public import Foundation

/// Keeps answers in files, which outlive the process.
///
/// Every file appears whole or not at all, whenever a process is killed; one whose checksum is wrong is removed and counts as a miss. Any number of
/// instances and processes may share a directory. The limit holds at every moment: before a file is written, the least recently used ones make room.
///
/// Only their owner can read files and directory; they are not encrypted. A directory that belongs to another user, or that other users can write to, is
/// refused with an error that names it. Links are not followed.
///
/// Use one directory for each server, or tell the servers apart with ``CacheOptions/partition``.
public struct DiskCacheStorage: CacheStorage {
    private let path: String
    private let byteLimit: Int
    private let index: Locked<DiskIndex>
    private let writer: DiskCacheWriter

    /// Touches no file yet.
    /// - Parameters:
    ///   - directory: where the files are; made when it is first needed. It should hold nothing else.
    ///   - byteLimit: how many bytes the files may take; an answer above it is not kept.
    ///   - synchronizesWrites: whether a write waits until its bytes are on the disk. Without, a power failure may cost answers; a wrong one is never shown.
    public init(directory: URL, byteLimit: Int = 64 * 1024 * 1024, synchronizesWrites: Bool = false) {
        self.init(
            path: directory.path, byteLimit: byteLimit, synchronizesWrites: synchronizesWrites, clock: RelativeClock(ContinuousClock()))
    }

    init(path: String, byteLimit: Int, synchronizesWrites: Bool, clock: RelativeClock) {
        (self.path, self.byteLimit) = (path, byteLimit)
        index = Locked(DiskIndex())
        writer = DiskCacheWriter(path: path, byteLimit: byteLimit, synchronizesWrites: synchronizesWrites, index: index, clock: clock)
    }

    public func entry(for key: CacheKey) async throws -> CacheEntry? {
        let name = key.fileName
        // On the caller's thread: most files are small and in the system's own cache, where reading one is faster than changing threads.
        guard let file = try SafeDirectory.open(path)?.open(name) else { return nil }
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
            // A file that cannot be read is of no use either.
            guard let head = try? directory.open(name)?.read(upTo: CacheFile.headLength) else { return true }
            return CacheFile.expiry(inHeadOf: head).map { $0 < limit } ?? true
        }
    }

    public func removeAll() async throws { try await writer.removeAll { _, _ in true } }

    /// How many bytes the files take.
    package var byteCount: Int {
        get async throws {
            try await writer.scan()
            return index.withLock { $0.bytes }
        }
    }
}

extension CacheKey {
    /// The name of the key's file. The group comes first, so that the files of a group are known by their names.
    var fileName: String { "\(Self.filePrefix(ofGroup: group))\(SHA256.hex(text.utf8))\(DiskCacheWriter.entrySuffix)" }
    static func filePrefix(ofGroup group: String) -> String { "\(SHA256.hex(group.utf8).prefix(16))-" }
}

/// What is known about a cache's files: their sizes, and the order of their use.
struct DiskIndex: Sendable {
    private var files = LeastRecentlyUsed<String, Int>()
    private(set) var bytes = 0

    init(_ files: [SafeDirectory.FileInfo] = []) {
        for file in files.sorted(by: { ($0.lastChange, $0.name) < ($1.lastChange, $1.name) }) { set(file.size, for: file.name) }
    }

    var names: [String] { Array(files.keys) }
    var oldestName: String? { files.oldestKey }
    mutating func set(_ size: Int, for name: String) { bytes += size - (files.set(size, for: name) ?? 0) }
    mutating func use(_ name: String) { _ = files.use(name) }
    mutating func remove(_ name: String) { bytes -= files.remove(name) ?? 0 }
}

/// Changes the directory of a disk cache, one change at a time among all tasks and processes.
///
/// It runs off the cooperative pool, since it waits for the disk. The index is shared with readers, which only note uses in it.
///
/// The lock's file counts the changes. A writer counts before it changes anything, so that a writer that finds the number it left knows that the
/// directory is as it left it.
actor DiskCacheWriter {
    static let entrySuffix = ".entry"
    static let lockName = "lock"
    /// Not the name of an entry, so that a half-written file is never read.
    private static let draftName = "writing"
    private static let longestWait = Duration.seconds(2)

    private let byteLimit: Int
    private let synchronizesWrites: Bool
    private let index: Locked<DiskIndex>
    private let lock: DirectoryLock
    private let executor = DiskExecutor(label: "feathers.disk-cache")
    /// The number of changes the index knows; nil before the directory was read.
    private var knownChanges: UInt64?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(path: String, byteLimit: Int, synchronizesWrites: Bool, index: Locked<DiskIndex>, clock: RelativeClock) {
        (self.byteLimit, self.synchronizesWrites, self.index) = (byteLimit, synchronizesWrites, index)
        lock = DirectoryLock(path: path, name: Self.lockName, clock: clock)
    }

    /// Writes a file. The least recently used ones make room first, so that the limit holds at every moment: the file it replaces counts until it
    /// is replaced.
    func write(_ bytes: [UInt8], to name: String) async throws {
        try await change { directory in
            guard bytes.count <= byteLimit else { return try remove(name, from: directory) }
            while index.withLock({ $0.bytes }) > byteLimit - bytes.count, let oldest = index.withLock({ $0.oldestName }) {
                try remove(oldest, from: directory)
            }
            try directory.replace(name, with: bytes, draft: Self.draftName, isDurable: synchronizesWrites)
            index.withLock { $0.set(bytes.count, for: name) }
        }
    }

    func removeFile(_ name: String) async throws { try await change { try remove(name, from: $0) } }

    func removeAll(where condition: @Sendable (String, SafeDirectory) -> Bool) async throws {
        try await change { directory in
            for name in index.withLock({ $0.names }) where condition(name, directory) { try remove(name, from: directory) }
        }
    }

    /// Brings the index up to date, which also removes what dead writers left.
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
            // A change that fails half-way has not told the index about its other half: the directory is read again next time.
            knownChanges = nil
            let next = changes &+ 1
            try held.file.write((0..<8).map { UInt8(truncatingIfNeeded: next >> UInt64($0 * 8)) }, at: 0)
            try body(held.directory)
            knownChanges = next
        }
    }
}
