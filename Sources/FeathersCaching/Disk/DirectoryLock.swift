import Foundation

/// The right to change a cache's directory, held by one writer among all processes; the system takes it back should the writer die.
///
/// The lock's file counts the changes. A writer counts before it changes anything, so that whoever finds the number they left knows that nobody
/// has touched the directory since.
struct DirectoryLock: ~Copyable {
    private let file: OpenFile

    /// Takes the lock if it is free.
    /// - Returns: nil where another holds it.
    static func acquire(in directory: CacheDirectory) throws -> DirectoryLock? {
        let file = try OpenFile(directory.path(CacheDirectory.lockName), O_RDWR | O_CREAT)
        while flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return nil }
            guard errno == EINTR else { throw DiskCacheError("flock", errno) }
        }
        return DirectoryLock(file: file)
    }

    private init(file: consuming OpenFile) {
        self.file = file
    }

    /// Does something before the lock is given back.
    func whileHeld(_ body: () throws -> Void) throws {
        try body()
    }

    /// How many changes were counted.
    func changes() throws -> UInt64 {
        try file.read(upTo: 8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Counts a change that is about to be made.
    func count(after changes: UInt64) throws {
        let next = changes &+ 1
        try file.write((0..<8).map { UInt8(truncatingIfNeeded: next >> UInt64($0 * 8)) })
    }
}
