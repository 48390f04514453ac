/// The operations that a journal needs from the file system, within one folder.
///
/// Nothing is durable until it is synchronized. That applies to a file's bytes, and to the folder's record of created,
/// removed and renamed files.
protocol JournalDisk: Sendable {
    /// Creates the folder if it is missing, and acquires the lock for writing in it.
    func lock() throws
    /// Returns the entire contents of a file; nil if the file does not exist.
    func read(_ name: String) throws -> [UInt8]?
    /// Creates an empty file that only its owner may read. Replaces any file with that name.
    func create(_ name: String) throws -> any JournalFile
    func open(_ name: String) throws -> any JournalFile
    func rename(_ name: String, to newName: String) throws
    /// Removes a file, if it exists.
    func remove(_ name: String) throws
    /// Waits until the folder's current files would survive a power failure.
    func synchronize() throws
    /// Releases the lock.
    func unlock()
}

/// An open file of a journal.
protocol JournalFile: Sendable {
    func write(_ bytes: [UInt8], at offset: Int) throws
    func truncate(to length: Int) throws
    /// Waits until the file's current bytes would survive a power failure.
    func synchronize() throws
}

/// The reason why the system could not do what a journal requested.
struct JournalDiskError: Error, CustomStringConvertible {
    let description: String
}
