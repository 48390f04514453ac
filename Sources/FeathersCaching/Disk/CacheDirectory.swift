import Foundation

/// The files of a disk cache: whole or not there, by name.
struct CacheDirectory: Sendable {
    /// What is known of a file without reading it.
    struct File: Sendable {
        let name: String
        let bytes: Int
        /// Nanoseconds since 1970.
        let lastUsed: Int64
    }

    let path: String

    static let entrySuffix = ".entry"
    static let lockName = "lock"
    /// Not of entries, so that what a writer left half-written is never read.
    private static let temporaryName = "writing"

    func create() throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// The whole content of a file, whose use is noted; nil where there is none.
    func read(_ name: String) throws -> [UInt8]? {
        guard let file = try OpenFile(path(name), O_RDONLY, orNil: ENOENT) else { return nil }
        let bytes = try file.read(upTo: nil)
        file.noteUse()
        return bytes
    }

    /// The first bytes of a file; nil where there is none.
    func head(of name: String, length: Int) throws -> [UInt8]? {
        try OpenFile(path(name), O_RDONLY, orNil: ENOENT)?.read(upTo: length)
    }

    /// Writes a file that appears whole. The present one is gone a moment before, which readers take for a miss. The directory's lock must be held.
    /// - Parameter synchronized: whether the bytes are on the disk, not only on their way to it, before the file appears.
    func write(_ bytes: [UInt8], to name: String, synchronized: Bool) throws {
        let temporary = path(Self.temporaryName)
        do {
            let file = try OpenFile(creating: temporary)
            try file.write(bytes)
            if synchronized { try file.synchronize() }
        }
        // Some file systems write a file to the disk before it replaces another (ext4's `auto_da_alloc`), which takes a thousand times as long.
        try remove(name)
        guard rename(temporary, path(name)) == 0 else { throw DiskCacheError("rename", errno) }
    }

    func remove(_ name: String) throws {
        guard unlink(path(name)) == 0 || errno == ENOENT else { throw DiskCacheError("unlink", errno) }
    }

    /// The entries' files. What is left of a writer that died is removed: the directory's lock must be held.
    func files() throws -> [File] {
        try remove(Self.temporaryName)
        guard let folder = opendir(path) else { throw DiskCacheError("opendir", errno) }
        defer { closedir(folder) }
        var files: [File] = []
        while let item = readdir(folder) {
            let name = withUnsafePointer(to: &item.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) { String(cString: $0) }
            }
            var status = stat()
            guard name.hasSuffix(Self.entrySuffix), lstat(path(name), &status) == 0 else { continue }
            let time = status.lastChange
            files.append(File(name: name, bytes: Int(status.st_size), lastUsed: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)))
        }
        return files
    }

    func path(_ name: String) -> String { "\(path)/\(name)" }
}

/// Why the files of a cache could not be read or changed; names the system's call, never a path.
struct DiskCacheError: Error, CustomStringConvertible {
    let call: String
    let number: Int32

    init(_ call: String, _ number: Int32) {
        self.call = call
        self.number = number
    }

    var description: String { "The disk cache's \(call) failed: \(String(cString: strerror(number)))" }
}
