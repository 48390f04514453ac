import Foundation

/// The reason a file or a directory could not be used.
package struct FileFailure: Error, Equatable, CustomStringConvertible {
    package enum Reason: Sendable, Equatable {
        /// A system call failed with this error number.
        case system(Int32)
        /// The file is not safe to use. The text contains the reason and how to fix it.
        case refused(String)
        /// Another task or process held the lock for too long.
        case locked
    }

    package let path: String
    package let reason: Reason

    package init(_ path: String, _ reason: Reason) { (self.path, self.reason) = (path, reason) }

    /// Returns the failure of this thread's last system call.
    static func last(_ path: @autoclosure () -> String) -> FileFailure {
        // Read first, before another call can change it.
        let number = errno
        return FileFailure(path(), .system(number))
    }

    package var description: String {
        switch reason {
        case .system(ELOOP): "'\(path)' is a link, and links are not followed"
        case .system(let number): "'\(path)' cannot be used: \(String(cString: strerror(number)))"
        case .refused(let why): "'\(path)' cannot be used: \(why)"
        case .locked: "'\(path)' is locked by another task or process"
        }
    }
}
