import FeathersCore
import FeathersSupport
import Foundation

/// The system's files. The lock is one of the system's own, which takes it back should the process die.
final class SystemDisk: JournalDisk {
    private let folder: String
    private let lockName: String
    private let held = Locked<SystemFile?>(nil)

    /// - Parameters:
    ///   - folder: where the files are.
    ///   - lockName: the name of the file that stands for the right to write.
    init(folder: String, lockName: String) {
        self.folder = folder
        self.lockName = lockName
    }

    func lock() throws {
        try makeFolder()
        let file = try SystemFile(path(lockName), O_RDWR | O_CREAT)
        while flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { throw JournalDiskError(description: "another outbox uses it, in this process or in another") }
            guard errno == EINTR else { throw JournalDiskError.last }
        }
        held.withLock { $0 = file }
    }

    /// Makes the folder, and those above it that are missing, so that a power failure does not take them away again.
    private func makeFolder() throws {
        var missing: [String] = []
        var path = folder
        while !path.isEmpty, path != "/", !FileManager.default.fileExists(atPath: path) {
            missing.append(path)
            path = (path as NSString).deletingLastPathComponent
        }
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw JournalDiskError(description: "its folder can not be made")
        }
        for path in missing { try Self.synchronize((path as NSString).deletingLastPathComponent) }
    }

    func unlock() {
        held.withLock { $0 = nil }
    }

    func read(_ name: String) throws -> [UInt8]? {
        let file = Foundation.open(path(name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw JournalDiskError.last
        }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = Foundation.read(file, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw JournalDiskError.last }
            bytes += buffer.prefix(count)
        }
    }

    func create(_ name: String) throws -> any JournalFile {
        try SystemFile(path(name), O_WRONLY | O_CREAT | O_TRUNC)
    }

    func open(_ name: String) throws -> any JournalFile {
        try SystemFile(path(name), O_WRONLY)
    }

    func rename(_ name: String, to newName: String) throws {
        guard Foundation.rename(path(name), path(newName)) == 0 else { throw JournalDiskError.last }
    }

    func remove(_ name: String) throws {
        guard unlink(path(name)) == 0 || errno == ENOENT else { throw JournalDiskError.last }
    }

    func synchronize() throws { try Self.synchronize(folder) }

    private static func synchronize(_ folder: String) throws {
        let descriptor = Foundation.open(folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw JournalDiskError.last }
        defer { close(descriptor) }
        #if canImport(Darwin)
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        // EINVAL is how file systems say that their folders need none.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw JournalDiskError.last }
    }

    private func path(_ name: String) -> String { "\(folder)/\(name)" }
}

/// An open file of the system, closed with its last reference.
final class SystemFile: JournalFile {
    let descriptor: Int32

    init(_ path: String, _ flags: Int32) throws {
        // A link could lead to a file of somebody else's choosing.
        descriptor = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw JournalDiskError.last }
    }

    deinit { close(descriptor) }

    func write(_ bytes: [UInt8], at offset: Int) throws {
        try bytes.withUnsafeBytes { buffer in
            var written = 0
            while written < buffer.count {
                let start = buffer.baseAddress?.advanced(by: written)
                let count = pwrite(descriptor, start, buffer.count - written, off_t(offset + written))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw JournalDiskError.last }
                written += count
            }
        }
    }

    func truncate(to length: Int) throws {
        guard ftruncate(descriptor, off_t(length)) == 0 else { throw JournalDiskError.last }
    }

    func synchronize() throws {
        #if canImport(Darwin)
            // There fsync leaves the bytes in the drive's own memory; where this is not known, it is the best there is.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        guard fsync(descriptor) == 0 else { throw JournalDiskError.last }
    }
}

extension JournalDiskError {
    /// What the system's last call failed with.
    fileprivate static var last: JournalDiskError { JournalDiskError(description: String(cString: strerror(errno))) }
}
