import Foundation

/// Why a file or a directory could not be used.
package struct FileFailure: Error, Equatable, CustomStringConvertible {
    package enum Reason: Sendable, Equatable {
        /// A system call failed with this error number.
        case system(Int32)
        /// The file is not safe to use; the text says why and how to mend it.
        case refused(String)
        /// Another task or process held the lock for too long.
        case locked
    }

    package let path: String
    package let reason: Reason

    package init(_ path: String, _ reason: Reason) { (self.path, self.reason) = (path, reason) }

    /// The failure of the last system call of this thread.
    static func last(_ path: @autoclosure () -> String) -> FileFailure {
        // Before anything else can change it.
        let number = errno
        return FileFailure(path(), .system(number))
    }

    package var description: String {
        switch reason {
        case .system(ELOOP): "'\(path)' is a link, and links are not followed"
        case .system(let number): "'\(path)' cannot be used: \(String(cString: strerror(number)))"
        case .refused(let why): "'\(path)' is not used: \(why)"
        case .locked: "'\(path)' is locked by another task or process"
        }
    }
}
