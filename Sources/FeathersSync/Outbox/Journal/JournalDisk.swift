/// What a journal asks of the system: the files of one folder.
///
/// Nothing lasts until it is synchronized: the bytes of a file, and in the folder that a file has come, gone or been renamed.
protocol JournalDisk: Sendable {
    /// Makes the folder where it is missing, and takes the right to write in it.
    func lock() throws
    /// The whole content of a file; nil where there is none.
    func read(_ name: String) throws -> [UInt8]?
    /// A new, empty file that only its owner may read, in place of any of that name.
    func create(_ name: String) throws -> any JournalFile
    func open(_ name: String) throws -> any JournalFile
    func rename(_ name: String, to newName: String) throws
    /// Removes a file, if there is one.
    func remove(_ name: String) throws
    /// Waits until the folder's present files are what is found after a power failure.
    func synchronize() throws
    /// Gives the right to write back.
    func unlock()
}

/// An open file of a journal.
protocol JournalFile: Sendable {
    func write(_ bytes: [UInt8], at offset: Int) throws
    func truncate(to length: Int) throws
    /// Waits until the file's present bytes are what is found after a power failure.
    func synchronize() throws
}

/// Why the system did not do what a journal asked for.
struct JournalDiskError: Error, CustomStringConvertible {
    let description: String
}
