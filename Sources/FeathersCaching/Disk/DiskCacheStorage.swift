import FeathersCore
import FeathersSupport
public import Foundation

/// Keeps answers in files, which outlive the process.
///
/// Every file appears whole or not at all, whenever a process is killed; one whose checksum is wrong is removed and counts as a miss. Any number of
/// instances and processes may share a directory. The limit holds at every moment: before a file is written, others make room for it, those that were not
/// used for longest. Files and directory are readable by their owner alone; they are not encrypted.
///
/// Use one directory for each server, or tell the servers apart with ``CacheOptions/namespace``.
public struct DiskCacheStorage: CacheStorage {
    private let directory: CacheDirectory
    private let index: Locked<DiskIndex>
    private let writer: DiskCacheWriter

    /// Touches no file yet.
    /// - Parameters:
    ///   - directory: where the files are; made when it is first needed. It should hold nothing else.
    ///   - byteLimit: how many bytes the files may take; an answer above it is not kept.
    ///   - synchronizesWrites: whether a write waits until its bytes are on the disk. Without, a power failure may cost answers; a wrong one is never shown.
    public init(directory: URL, byteLimit: Int = 64 * 1024 * 1024, synchronizesWrites: Bool = false) {
        self.directory = CacheDirectory(path: directory.path)
        index = Locked(DiskIndex())
        writer = DiskCacheWriter(self.directory, byteLimit: byteLimit, synchronizesWrites: synchronizesWrites, index: index)
    }

    public func entry(for key: CacheKey) async throws -> CacheEntry? {
        let name = key.fileName
        // On the caller's thread: most files are small and in the system's own cache, where reading one is faster than changing threads.
        guard let bytes = try directory.read(name) else { return nil }
        switch CacheFile.content(of: bytes, for: key) {
        case .entry(let entry):
            index.withLock { $0.use(name) }
            return entry
        case .otherKey:
            return nil
        case .corrupted:
            try await writer.removeFile(name)
            return nil
        }
    }

    public func set(_ entry: CacheEntry, for key: CacheKey) async throws {
        try await writer.write(CacheFile.bytes(of: entry, for: key), to: key.fileName)
    }

    public func remove(_ key: CacheKey) async throws {
        try await writer.removeFile(key.fileName)
    }

    public func remove(group: String) async throws {
        let prefix = CacheKey.filePrefix(ofGroup: group)
        try await writer.removeAll { $0.hasPrefix(prefix) }
    }

    public func removeExpired(olderThan date: Date) async throws {
        let limit = date.timeIntervalSinceReferenceDate
        let directory = directory
        try await writer.removeAll { name in
            // What cannot be read has no business here either.
            guard let head = try? directory.head(of: name, length: CacheFile.headLength) else { return true }
            return CacheFile.expiry(inHeadOf: head).map { $0 < limit } ?? true
        }
    }

    public func removeAll() async throws {
        try await writer.removeAll { _ in true }
    }

    /// How many bytes the files take.
    public var byteCount: Int {
        get async throws {
            try await writer.scan()
            return index.withLock { $0.bytes }
        }
    }
}

extension CacheKey {
    /// The name of the key's file: by group first, so that a group's files are known by their names.
    var fileName: String {
        "\(Self.filePrefix(ofGroup: group))\(SHA256.hex(text.utf8))\(CacheDirectory.entrySuffix)"
    }

    static func filePrefix(ofGroup group: String) -> String {
        "\(SHA256.hex(group.utf8).prefix(16))-"
    }
}
