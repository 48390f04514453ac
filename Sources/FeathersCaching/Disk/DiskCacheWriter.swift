import FeathersCore
import FeathersSupport
import Foundation

/// Changes the directory of a disk cache, one change at a time among all tasks and processes.
///
/// Off the shared threads, since it waits for the disk. The index is shared with readers, who only note uses in it.
actor DiskCacheWriter {
    private let directory: CacheDirectory
    private let byteLimit: Int
    private let synchronizesWrites: Bool
    private let index: Locked<DiskIndex>
    private let executor = DiskExecutor(label: "feathers.disk-cache")
    /// The number of changes the index knows; nil before the directory was read.
    private var knownChanges: UInt64?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ directory: CacheDirectory, byteLimit: Int, synchronizesWrites: Bool, index: Locked<DiskIndex>) {
        self.directory = directory
        self.byteLimit = byteLimit
        self.synchronizesWrites = synchronizesWrites
        self.index = index
    }

    /// Writes a file. Others make room first, those that were not used for longest, so that the limit holds at every moment: the file it
    /// replaces counts until it is replaced.
    func write(_ bytes: [UInt8], to name: String) async throws {
        try await change { [self] in
            guard bytes.count <= byteLimit else { return try remove(name) }
            while index.withLock({ $0.bytes }) > byteLimit - bytes.count, let oldest = index.withLock({ $0.oldestName }) {
                try remove(oldest)
            }
            try directory.write(bytes, to: name, synchronized: synchronizesWrites)
            index.withLock { $0.set(bytes.count, for: name) }
        }
    }

    /// Removes a file.
    func removeFile(_ name: String) async throws {
        try await change { [self] in try remove(name) }
    }

    /// Removes the files whose names fulfil a condition.
    func removeAll(where condition: @Sendable (String) -> Bool) async throws {
        try await change { [self] in
            for name in index.withLock({ $0.names }) where condition(name) { try remove(name) }
        }
    }

    /// Brings the index up to date, which also removes what dead writers left.
    func scan() async throws {
        try await change {}
    }

    private func remove(_ name: String) throws {
        try directory.remove(name)
        index.withLock { $0.remove(name) }
    }

    private func change(_ body: () throws -> Void) async throws {
        let lock = try await acquireLock()
        try lock.whileHeld {
            let changes = try lock.changes()
            if changes != knownChanges {
                let files = try directory.files()
                index.withLock { $0 = DiskIndex(files) }
            }
            // A change that fails half-way has told the index nothing of the other half: it is read anew next time.
            knownChanges = nil
            try lock.count(after: changes)
            try body()
            knownChanges = changes &+ 1
        }
    }

    /// Waits for the lock in steps, since the system's own wait can be neither cancelled nor bounded.
    private func acquireLock() async throws -> DirectoryLock {
        for attempt in 0..<200 {
            do {
                if let lock = try DirectoryLock.acquire(in: directory) { return lock }
            } catch let error as DiskCacheError where error.number == ENOENT {
                try directory.create()
                continue
            }
            try await Task.sleep(for: .milliseconds(attempt < 20 ? 1 : 10))
        }
        throw DiskCacheError("lock", EWOULDBLOCK)
    }
}
