import Foundation

/// An open regular file that has passed the checks of its ``SafeDirectory``. It is closed with its last reference.
package final class OpenFile: Sendable {
    /// The path for error messages. The file was opened through its directory's descriptor, not by this path.
    package let path: String
    private let descriptor: Int32
    /// The file's status when it was checked.
    private let atOpening: stat

    /// Takes ownership of a descriptor, and closes it later, even if the file is refused.
    /// - Parameters:
    ///   - knownOwner: The owner of the directory, who has been checked; checking again would take a system call.
    ///   - isSecret: Whether to refuse a file that other users can read. A file that they can write to is always
    ///     refused.
    ///   - isChangedInPlace: Whether the file is modified in place. If so, hard links are refused: through one, others
    ///     could change or lock the file.
    init(_ descriptor: Int32, path: String, knownOwner: uid_t, isSecret: Bool = false, isChangedInPlace: Bool) throws {
        (self.descriptor, self.path) = (descriptor, path)
        var status = stat()
        let failed = fstat(descriptor, &status) != 0
        atOpening = status
        guard !failed else { throw FileFailure.last(path) }
        try status.requireSafe(path, knownOwner: knownOwner, isSecret: isSecret, isChangedInPlace: isChangedInPlace)
    }

    deinit { close(descriptor) }

    /// Whether all names of the file have been removed.
    package var isRemoved: Bool { get throws { try status().st_nlink == 0 } }

    /// Reads the whole file, as long as it was when it was opened.
    /// - Throws: ``FileFailure`` if the file is larger than the limit.
    package func readAll(atMost limit: Int) throws -> [UInt8] {
        let size = Int(clamping: atOpening.st_size)
        guard size <= limit else { throw FileFailure(path, .refused("it is larger than \(limit) bytes")) }
        return try read(upTo: size)
    }

    /// Reads from the beginning, up to a number of bytes, for which memory is allocated first.
    package func read(upTo count: Int) throws -> [UInt8] {
        // All arrays without capacity share one instance, in which not even a count of 0 may be written.
        guard count > 0 else { return [] }
        var failure: FileFailure?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let got = pread(descriptor, buffer.baseAddress?.advanced(by: filled), count - filled, off_t(filled))
                if got < 0, errno == EINTR { continue }
                if got < 0 { failure = .last(path) }
                if got <= 0 { return }
                filled += got
            }
        }
        if let failure { throw failure }
        return bytes
    }

    package func write(_ bytes: [UInt8], at offset: Int) throws {
        try bytes.withUnsafeBytes { buffer in
            var written = 0
            while written < buffer.count {
                let start = buffer.baseAddress?.advanced(by: written)
                let count = pwrite(descriptor, start, buffer.count - written, off_t(offset + written))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw FileFailure.last(path) }
                written += count
            }
        }
    }

    package func truncate(to length: Int) throws {
        guard ftruncate(descriptor, off_t(length)) == 0 else { throw FileFailure.last(path) }
    }

    /// Waits until the file's contents survive a power failure.
    package func synchronize() throws {
        guard Self.flush(descriptor) else { throw FileFailure.last(path) }
    }

    /// Flushes a file or a directory to the disk.
    static func flush(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
            // On Apple platforms, fsync leaves the data in the drive's cache. For file systems without this call, fsync
            // is the best available.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
        #endif
        return fsync(descriptor) == 0
    }

    /// Acquires the exclusive lock of the file. The system releases it when the process exits.
    /// - Parameter waits: Whether to block this thread until the lock is free.
    /// - Returns: False if another open file holds the lock, in this process or another.
    func lock(waits: Bool) throws -> Bool {
        while flock(descriptor, waits ? LOCK_EX : LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            guard errno == EINTR else { throw FileFailure.last(path) }
        }
        return true
    }

    /// Releases the lock before the file is closed.
    package func unlock() { _ = flock(descriptor, LOCK_UN) }

    private func status() throws -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileFailure.last(path) }
        return status
    }
}

extension stat {
    /// Whether the file belongs to this user, or to the superuser, who can change every file anyway.
    var hasTrustedOwner: Bool { st_uid == geteuid() || st_uid == 0 }

    /// Throws an error for a file that others could have prepared or could change.
    /// - Parameters: Those of ``OpenFile/init(_:path:knownOwner:isSecret:isChangedInPlace:)``.
    func requireSafe(_ path: String, knownOwner: uid_t, isSecret: Bool = false, isChangedInPlace: Bool) throws {
        guard mode_t(st_mode) & S_IFMT == S_IFREG else { throw FileFailure(path, .refused("it is not a regular file")) }
        if st_uid != knownOwner { try requireTrustedOwner(path) }
        guard st_mode & (isSecret ? 0o077 : 0o022) == 0 else {
            let mode = String(st_mode & 0o777, radix: 8)
            throw FileFailure(
                path, .refused("its mode \(mode) lets other users access it; remove it, or make its mode 600"))
        }
        guard !isChangedInPlace || st_nlink <= 1 else {
            throw FileFailure(
                path, .refused("it has a second name (a hard link); remove that, or replace the file with a copy"))
        }
    }

    /// Throws an error for a file that belongs to another user.
    func requireTrustedOwner(_ path: String) throws {
        guard hasTrustedOwner else { throw FileFailure(path, .refused("it belongs to another user (\(st_uid))")) }
    }
}
