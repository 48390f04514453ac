import Foundation

/// A regular file that is open, and that passed the checks of its ``SafeDirectory``. It is closed with its last reference.
package final class OpenFile: Sendable {
    /// For error messages: the file was opened by its directory's descriptor, not by this path.
    package let path: String
    private let descriptor: Int32

    /// Takes over a descriptor and closes it later, also where the file is refused.
    /// - Parameters:
    ///   - isSecret: whether a file that other users can read is refused. One that they can write always is.
    ///   - isChangedInPlace: whether the file is written to. A second name for it would let others change it, or pass the lock of the first name.
    init(_ descriptor: Int32, path: String, isSecret: Bool = false, isChangedInPlace: Bool) throws {
        (self.descriptor, self.path) = (descriptor, path)
        let status = try status()
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileFailure(path, .refused("it is not a regular file")) }
        try status.requireTrustedOwner(path)
        guard status.st_mode & (isSecret ? 0o077 : 0o022) == 0 else {
            let mode = String(status.st_mode & 0o777, radix: 8)
            throw FileFailure(path, .refused("its mode \(mode) opens it to other users; remove it, or make its mode 600"))
        }
        guard !isChangedInPlace || status.st_nlink <= 1 else {
            throw FileFailure(path, .refused("it has a second name (a hard link); remove that, or replace the file by a copy of it"))
        }
    }

    deinit { close(descriptor) }

    /// The size, in bytes.
    package var size: Int { get throws { Int(clamping: try status().st_size) } }

    /// Whether the file no longer has a name.
    package var isRemoved: Bool { get throws { try status().st_nlink == 0 } }

    /// Reads from the beginning, no more than so many bytes.
    package func read(upTo limit: Int) throws -> [UInt8] {
        let count = min(try size, limit)
        // An array without capacity is one that all share, where even a count of 0 must not be written.
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

    /// Reads the whole file.
    /// - Throws: ``FileFailure`` where it is larger than the limit.
    package func readAll(atMost limit: Int) throws -> [UInt8] {
        guard try size <= limit else { throw FileFailure(path, .refused("it is larger than \(limit) bytes")) }
        return try read(upTo: limit)
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

    /// Waits until the file's bytes survive a power failure.
    package func synchronize() throws {
        guard Self.flush(descriptor) else { throw FileFailure.last(path) }
    }

    /// Flushes a file or a directory.
    static func flush(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
            // On Apple platforms, fsync leaves the bytes in the drive's own memory. Where a file system does not know this call, fsync is all there is.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
        #endif
        return fsync(descriptor) == 0
    }

    /// Makes now the time of the file's last change, unless that was within the last minute: changing it costs more than reading a small file.
    ///
    /// Failures are ignored: they cost the order of use, nothing else.
    package func noteUse() {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        guard let status = try? status(), abs(now.tv_sec - status.lastChange.tv_sec) >= 60 else { return }
        _ = futimens(descriptor, [now, now])
    }

    /// Takes the exclusive lock of the file, which the system takes back when the process dies.
    /// - Parameter waits: whether to block this thread until the lock is free.
    /// - Returns: false where another open file holds the lock, in this process or another.
    func lock(waits: Bool) throws -> Bool {
        while flock(descriptor, waits ? LOCK_EX : LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            guard errno == EINTR else { throw FileFailure.last(path) }
        }
        return true
    }

    /// Gives the lock back before the file is closed.
    package func unlock() { _ = flock(descriptor, LOCK_UN) }

    private func status() throws -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileFailure.last(path) }
        return status
    }
}

extension stat {
    /// When the content, or its time, was last changed.
    var lastChange: timespec {
        #if canImport(Darwin)
            st_mtimespec
        #else
            st_mtim
        #endif
    }

    /// Whether it belongs to this user, or to the superuser, who may change every file anyway.
    var hasTrustedOwner: Bool { st_uid == geteuid() || st_uid == 0 }

    /// Refuses what belongs to another user.
    func requireTrustedOwner(_ path: String) throws {
        guard hasTrustedOwner else { throw FileFailure(path, .refused("it belongs to another user (\(st_uid))")) }
    }
}
