import Foundation

/// The files of a database as they were checked before SQLite opened them by their paths.
///
/// No other user can change where these paths lead (see ``SafeDirectory/resolvedPath``). What SQLite has open is
/// compared with what was checked anyway.
struct DatabaseFiles {
    /// The files that SQLite keeps open beside the database.
    private static let companions = ["-wal", "-shm"]

    /// The size of the database; nil if it does not exist.
    let size: Int?
    /// Whether there is a log with transactions.
    let hasLog: Bool
    private let name: String
    private let directory: SafeDirectory
    /// The files that exist, by what follows the database's name.
    private let known: [String: FileIdentity]

    /// - Throws: ``FileFailure`` if a file is not safe to use, ``DatabaseFailure`` if the log has lost its database, or
    ///   if the file is too short to be a database.
    init(_ name: String, in directory: SafeDirectory) throws {
        (self.name, self.directory) = (name, directory)
        let main = try directory.checkedFile(name)
        var known: [String: FileIdentity] = [:]
        known[""] = main?.identity
        var logSize = 0
        for suffix in Self.companions {
            guard let file = try directory.checkedFile(name + suffix) else { continue }
            known[suffix] = file.identity
            if suffix == "-wal" { logSize = file.size }
        }
        _ = try directory.checkedFile("\(name)-journal")
        (size, hasLog, self.known) = (main?.size, logSize > 0, known)
        // SQLite would remove the log, and with it the last transactions.
        if size ?? 0 == 0, logSize > 0 { throw DatabaseFailure("\(directory.path)/\(name)", .logOnly) }
        // SQLite would treat it as an empty file. A database has at least one page.
        if let size, 1..<512 ~= size { throw DatabaseFailure("\(directory.path)/\(name)", .notADatabase) }
    }

    /// Checks what SQLite has opened.
    /// - Returns: False if a file was replaced since it was checked. Another process that closes the database removes
    ///   its log, so that may be as it should be.
    func areOpen() throws -> Bool {
        let descriptors = FileIdentity.ofOpenFiles
        for suffix in [""] + Self.companions {
            guard let file = try directory.checkedFile(name + suffix) else {
                // Without a log, all is in the database.
                if suffix.isEmpty { return false }
                continue
            }
            if let before = known[suffix], before != file.identity { return false }
            if let descriptors, !descriptors.contains(file.identity) { return false }
        }
        return true
    }
}

/// What tells a file from all others.
package struct FileIdentity: Sendable, Hashable {
    private let device: UInt64
    private let number: UInt64

    init(_ status: stat) { (device, number) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(status.st_ino)) }

    /// The files that this process has open; nil if the system does not list them.
    static var ofOpenFiles: Set<FileIdentity>? {
        #if canImport(Darwin)
            let path = "/dev/fd"
        #else
            let path = "/proc/self/fd"
        #endif
        guard let list = opendir(path) else { return nil }
        defer { closedir(list) }
        var identities: Set<FileIdentity> = []
        while let entry = readdir(list) {
            let text = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: $0.pointee)) {
                    String(cString: $0)
                }
            }
            var status = stat()
            guard let descriptor = Int32(text), fstat(descriptor, &status) == 0 else { continue }
            identities.insert(FileIdentity(status))
        }
        return identities
    }
}
