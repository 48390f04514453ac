import FeathersCore
import FeathersSupport
import Foundation

@testable import FeathersSync

extension Journal {
    /// Reads a database that another process may be writing.
    static func peek(at file: URL, service path: String) throws -> (writes: [StoredWrite], executed: ExecutedWrites) {
        guard let directory = try SafeDirectory.open(file.deletingLastPathComponent().path),
            let database = try Database.openForReading(file.lastPathComponent, in: directory, JournalTables.schema)
        else { return ([], ExecutedWrites()) }
        return try database.snapshot {
            (try JournalTables.writes(in: database, at: path), try JournalTables.executed(in: database, at: path))
        }
    }

    func executed(at path: String) throws -> ExecutedWrites {
        try read { try JournalTables.executed(in: $0, at: path) }
    }
}

extension JournalWriter {
    func executed(at path: String) throws -> ExecutedWrites {
        try read { try JournalTables.executed(in: $0, at: path) }
    }
}

extension Outbox {
    func executed(at path: String) async throws -> ExecutedWrites { try await journal.executed(at: path) }
}
