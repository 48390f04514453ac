import CSQLite
import Foundation

/// The reason a database could not be used.
package struct DatabaseFailure: Error, CustomStringConvertible {
    package enum Reason: Sendable, Equatable {
        /// The library with this name is missing or too old.
        case noLibrary(String)
        /// The file is not a database.
        case notADatabase
        /// The file is the database of another program.
        case foreign
        /// The database was written by another version of this package.
        case otherVersion(Int, supported: Int)
        /// The tables are not those that this package creates. The text names one that differs.
        case changed(String)
        /// The log with the last transactions exists, but the database doesn't.
        case logOnly
        /// The file is damaged. The text contains what SQLite found.
        case damaged(String)
        case full
        /// SQLite's extended result code and message.
        case failed(code: Int32, String)
    }

    package let path: String
    package let reason: Reason

    package init(_ path: String, _ reason: Reason) { (self.path, self.reason) = (path, reason) }

    package var description: String { "'\(path)' cannot be used: \(explanation)" }

    /// The reason without the path.
    package var explanation: String {
        switch reason {
        case .noLibrary(let name):
            "local data needs SQLite 3.31 or later, and the library '\(name)' could not be loaded. "
                + SQLiteLibrary.advice
        case .notADatabase: "it is not a database"
        case .foreign: "it is the database of another program"
        case .otherVersion(let version, let supported):
            "it has version \(version); only \(supported) is supported. Nothing was changed"
        case .changed(let object):
            "its tables are not as this package creates them (\(object) differs). Nothing was changed; move it, with "
                + "the files whose names begin with its name, to start with an empty one"
        case .logOnly: "it is missing or empty, but its log '\(path)-wal' is not. The two belong together"
        case .damaged(let details):
            "it is damaged (\(details)). Nothing was removed; move it, with the files whose names begin with its name, "
                + "to start with an empty one"
        case .full: "the disk is full"
        case .failed(let code, let message): "\(message) (\(code))"
        }
    }
}
