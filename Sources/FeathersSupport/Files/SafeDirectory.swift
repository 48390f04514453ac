import Foundation

/// A directory of private files. This package reads and modifies files only through this type.
///
/// The directory is opened once, and its files are opened through its descriptor, so replacing the path afterwards does
/// not redirect them. Its files are never links. The directory and its files must belong to this user (or to the
/// superuser), and must not be writable by other users, who must not be able to replace a directory above it either
/// (see ``PathTrust``). A file appears completely or not at all.
///
/// All methods may wait for the disk. Call them on a ``DiskExecutor``. Only reading a small file is faster in place.
package final class SafeDirectory: Sendable {
    /// The path for error messages.
    package let path: String
    private let descriptor: Int32
    /// The directory's status when it was checked.
    private let atOpening: stat

    /// Opens a directory.
    /// - Parameter previous: The directory as it was opened before. It is returned if the path still leads to it and
    ///   its owner and mode are those that were checked: one system call instead of four, a quarter of the time that a
    ///   read of a small file takes.
    /// - Returns: Nil if it does not exist.
    package static func open(_ path: String, reusing previous: SafeDirectory? = nil) throws -> SafeDirectory? {
        var status = stat()
        if let previous, lstat(previous.path, &status) == 0, previous.atOpening.isSameDirectory(as: status) {
            return previous
        }
        do {
            return try SafeDirectory(path)
        } catch let failure as FileFailure where failure.reason == .system(ENOENT) {
            return nil
        }
    }

    /// Opens a directory. If it does not exist, creates it and its missing parents with mode 0700.
    /// - Parameter previous: The directory as it was opened before.
    package static func make(_ path: String, reusing previous: SafeDirectory? = nil) throws -> SafeDirectory {
        if let directory = try open(path, reusing: previous) { return directory }
        var missing: [String] = []
        var ancestor = trimmed(path)
        while ancestor != "/", ancestor != ".", access(ancestor, F_OK) != 0, errno == ENOENT {
            missing.append(ancestor)
            ancestor = parent(of: ancestor)
        }
        // Nothing is created where it would be refused.
        if let first = missing.last { _ = try PathTrust.current.resolve(first) }
        for path in missing.reversed() {
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw FileFailure.last(path) }
            // The new directory must survive a power failure.
            let above = Foundation.open(parent(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard above >= 0 else { throw FileFailure.last(parent(of: path)) }
            defer { close(above) }
            try synchronize(above, parent(of: path))
        }
        return try SafeDirectory(path)
    }

    private init(_ path: String) throws {
        // A trailing slash would follow a link.
        self.path = Self.trimmed(path)
        let resolved = try PathTrust.current.resolve(self.path)
        descriptor = Foundation.open(resolved, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOTDIR {
                throw FileFailure(self.path, .refused("it is not a directory, or only a link to one"))
            }
            throw FileFailure.last(self.path)
        }
        var status = stat()
        let failed = fstat(descriptor, &status) != 0
        atOpening = status
        guard !failed else { throw FileFailure.last(self.path) }
        try Self.requirePrivate(status, self.path)
    }

    private static func requirePrivate(_ status: stat, _ path: String) throws {
        try status.requireTrustedOwner(path)
        // In a sticky directory, others can add files but not replace ours. Their files are refused because of their
        // owner.
        guard mode_t(status.st_mode) & S_ISVTX == 0 else { return }
        try requireUnshared(status, path)
    }

    private static func requireUnshared(_ status: stat, _ path: String) throws {
        guard status.st_mode & 0o022 != 0 else { return }
        let mode = String(status.st_mode & 0o7777, radix: 8)
        // In a sticky directory, one with mode 700 is safe.
        let isSticky = mode_t(status.st_mode) & S_ISVTX != 0
        let advice = isSticky ? "use a new directory inside it, with mode 700" : "make its mode 700 (chmod 700)"
        throw FileFailure(path, .refused("its mode \(mode) lets other users write to it; \(advice)"))
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Opens a file for reading.
    /// - Parameter isSecret: Whether to refuse a file that other users can read, in addition to one that they can write
    ///   to.
    /// - Returns: Nil if it does not exist.
    package func open(_ name: String, isSecret: Bool = false) throws -> OpenFile? {
        // Without this flag, opening a FIFO would wait for a writer.
        let file = openat(descriptor, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw FileFailure.last(path(name))
        }
        return try OpenFile(
            file, path: path(name), knownOwner: atOpening.st_uid, isSecret: isSecret, isChangedInPlace: false)
    }

    /// Opens a file for modification in place.
    /// - Parameter creates: Whether to create an empty file if it does not exist.
    package func openForWriting(_ name: String, creates: Bool = false) throws -> OpenFile {
        let flags = O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC
        let file = openat(descriptor, name, creates ? flags | O_CREAT : flags, 0o600)
        guard file >= 0 else { throw FileFailure.last(path(name)) }
        return try OpenFile(file, path: path(name), knownOwner: atOpening.st_uid, isChangedInPlace: true)
    }

    /// Creates a new, empty file that only its owner can read. An existing file loses the name, but is not written to.
    package func create(_ name: String) throws -> OpenFile {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        var file = openat(descriptor, name, flags, 0o600)
        if file < 0, errno == EEXIST {
            try remove(name)
            file = openat(descriptor, name, flags, 0o600)
        }
        guard file >= 0 else { throw FileFailure.last(path(name)) }
        return try OpenFile(file, path: path(name), knownOwner: atOpening.st_uid, isChangedInPlace: true)
    }

    /// Returns a file that a library opens by its path and changes in place, after the checks of a file that this type
    /// opens; nil if it does not exist.
    ///
    /// Does not open the file: closing it would release the locks that SQLite holds on it in this process.
    func checkedFile(_ name: String) throws -> (identity: FileIdentity, size: Int)? {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            if errno == ENOENT { return nil }
            throw FileFailure.last(path(name))
        }
        if mode_t(status.st_mode) & S_IFMT == S_IFLNK { throw FileFailure(path(name), .system(ELOOP)) }
        try status.requireSafe(path(name), knownOwner: atOpening.st_uid, isChangedInPlace: true)
        return (FileIdentity(status), Int(clamping: status.st_size))
    }

    /// The path of this directory without links, for a library that opens files by their paths.
    ///
    /// No other user can change where it leads. Unlike for files that are opened through this directory, a sticky
    /// directory is refused: others could add files that the library opens beside ours.
    package var resolvedPath: String {
        get throws {
            let resolved = try PathTrust.current.resolve(path)
            var status = stat()
            guard lstat(resolved, &status) == 0 else { throw FileFailure.last(path) }
            guard atOpening.isSameDirectory(as: status) else {
                throw FileFailure(path, .refused("it was replaced by another directory, or its mode was changed"))
            }
            try Self.requireUnshared(status, path)
            return resolved
        }
    }

    /// Replaces a file atomically: a reader, or a crash, finds either the complete old file or the complete new one.
    ///
    /// Returns once the new file survives a power failure.
    /// - Parameter draft: The name that the new file is first written to. Nothing else may use this name at the same
    ///   time.
    package func replace(_ name: String, with bytes: [UInt8], draft: String) throws {
        do {
            let file = try create(draft)
            try file.write(bytes, at: 0)
            try file.synchronize()
            guard renameat(descriptor, draft, descriptor, name) == 0 else { throw FileFailure.last(path(name)) }
        } catch {
            _ = try? remove(draft)
            throw error
        }
        try synchronize()
    }

    /// Gives a file another name, in place of a file that has it. Does nothing if there is no such file.
    package func rename(_ name: String, to other: String) throws {
        guard renameat(descriptor, name, descriptor, other) != 0, errno != ENOENT else { return }
        throw FileFailure.last(path(name))
    }

    /// Removes a file.
    /// - Returns: Whether the file existed.
    @discardableResult
    package func remove(_ name: String) throws -> Bool {
        if unlinkat(descriptor, name, 0) == 0 { return true }
        guard errno == ENOENT else { throw FileFailure.last(path(name)) }
        return false
    }

    /// Waits until the current names of the files survive a power failure.
    package func synchronize() throws { try Self.synchronize(descriptor, path) }

    /// Acquires the lock of a file, which is created if it does not exist.
    /// - Parameter waits: Whether to block this thread until the lock is free.
    /// - Returns: The file, which holds the lock until it is unlocked or closed; nil if another open file holds the
    ///   lock.
    package func lock(_ name: String, waits: Bool = false) throws -> OpenFile? {
        let file = try openForWriting(name, creates: true)
        return try file.lock(waits: waits) ? file : nil
    }

    private static func synchronize(_ descriptor: Int32, _ path: String) throws {
        // With these errors, file systems report that their directories need no flushing.
        guard OpenFile.flush(descriptor) || errno == EINVAL || errno == ENOTSUP else { throw FileFailure.last(path) }
    }

    private func path(_ name: String) -> String { "\(path)/\(name)" }

    private static func trimmed(_ path: String) -> String {
        var path = path[...]
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path.isEmpty ? "." : String(path)
    }

    static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : trimmed(String(path[..<slash]))
    }
}

extension stat {
    fileprivate func isSameDirectory(as other: stat) -> Bool {
        (st_dev, st_ino, st_uid, st_mode) == (other.st_dev, other.st_ino, other.st_uid, other.st_mode)
    }
}
