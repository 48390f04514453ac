/// The operations by which a file is replaced atomically. Tests perform them on a disk that loses power.
package protocol FileReplacing: Sendable {
    associatedtype File

    /// Creates an empty file. An existing file loses the name, but is not written to.
    func create(_ name: String) throws -> File
    func write(_ bytes: [UInt8], to file: File) throws
    /// Waits until the file's current bytes would survive a power failure.
    func synchronize(_ file: File) throws
    func rename(_ name: String, to newName: String) throws
    /// Removes a file, if it exists.
    func discard(_ name: String) throws
    /// Waits until the current names of the files would survive a power failure.
    func synchronize() throws
}

extension FileReplacing {
    /// Replaces a file atomically: a reader, or a crash, finds either the complete old file or the complete new one.
    ///
    /// Returns once the new file survives a power failure.
    /// - Parameter draft: The name that the new file is first written to. Nothing else may use this name at the same
    ///   time.
    package func replace(_ name: String, with bytes: [UInt8], draft: String) throws {
        do {
            let file = try create(draft)
            try write(bytes, to: file)
            try synchronize(file)
            try rename(draft, to: name)
        } catch {
            _ = try? discard(draft)
            throw error
        }
        try synchronize()
    }
}
