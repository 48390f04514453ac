import FeathersSupport

/// The files of a real directory, which stays open and locked while the journal is in use.
final class SystemDisk: JournalDisk {
    private struct Held: Sendable {
        let directory: SafeDirectory
        /// Holds the lock until the file is closed.
        let lock: OpenFile
    }

    /// The size above which a file is not a journal. Reading it would exhaust the memory.
    private static let maximumSize = Int(Int32.max)

    private let folder: String
    /// The name of the file that holds the lock.
    private let lockName: String
    private let held = Locked<Held?>(nil)

    init(folder: String, lockName: String) { (self.folder, self.lockName) = (folder, lockName) }

    func lock() throws {
        let directory = try SafeDirectory.make(folder)
        guard let lock = try directory.lock(lockName) else {
            throw JournalDiskError(description: "another outbox uses it, in this process or in another one")
        }
        held.withLock { $0 = Held(directory: directory, lock: lock) }
    }

    func unlock() {
        // Closing is not enough: a program that is being started briefly holds a copy of the descriptor, and with it
        // the lock.
        held.withLock { held in
            held?.lock.unlock()
            held = nil
        }
    }

    func read(_ name: String) throws -> [UInt8]? { try directory.open(name)?.readAll(atMost: Self.maximumSize) }
    func create(_ name: String) throws -> any JournalFile { try directory.create(name) }
    func open(_ name: String) throws -> any JournalFile { try directory.openForWriting(name) }
    func rename(_ name: String, to newName: String) throws { try directory.rename(name, to: newName) }
    func remove(_ name: String) throws { try directory.remove(name) }
    func synchronize() throws { try directory.synchronize() }

    private var directory: SafeDirectory {
        get throws {
            guard let directory = held.withLock({ $0?.directory }) else {
                throw JournalDiskError(description: "it is not locked")
            }
            return directory
        }
    }
}

extension OpenFile: JournalFile {}
