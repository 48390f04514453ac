import Foundation

/// An exclusive lock between processes, held while a closure runs.
struct FileLock {
    let url: URL

    /// Waits for the lock. The system releases it should this process die.
    func withLock<Result>(_ body: () throws -> Result) throws -> Result {
        // Not inherited by children, who would hold on to the lock otherwise.
        let descriptor = open(url.path, O_CREAT | O_RDWR | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw CocoaError(.fileLocking) }
        }
        return try body()
    }
}
