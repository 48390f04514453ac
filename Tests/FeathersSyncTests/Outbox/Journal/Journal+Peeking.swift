import FeathersCore
import FeathersSupport
import Foundation

@testable import FeathersSync

/// A record on disk.
struct FoundRecord: Sendable, Equatable {
    let identity: Identity?
    let key: String
    /// Nil if it was removed.
    let value: JSONValue?

    /// The records of a service, in the order in which they were first stored.
    static func all(at path: String, in database: Database) throws -> [FoundRecord] {
        let sql = """
            SELECT identity, key, json FROM records JOIN services ON services.number = records.service
            WHERE path = ? ORDER BY records.number
            """
        return try database.rows(sql, .text(path)) { row in
            FoundRecord(
                identity: try row.string(0).map(Identity.init), key: try row.string(1) ?? "",
                value: try row.bytes(2).map { try JSONValue(parsing: $0[...]) })
        }
    }
}

extension Journal {
    /// Reads a database that another process may be writing.
    static func peek(at file: URL, service path: String) throws -> (writes: [StoredWrite], records: [FoundRecord]) {
        guard let directory = try SafeDirectory.open(file.deletingLastPathComponent().path),
            let database = try Database.openForReading(file.lastPathComponent, in: directory, JournalTables.schema)
        else { return ([], []) }
        return try database.snapshot {
            (try JournalTables.writes(in: database, at: path), try FoundRecord.all(at: path, in: database))
        }
    }

    func records(at path: String) throws -> [FoundRecord] { try read { try FoundRecord.all(at: path, in: $0) } }
}

extension JournalWriter {
    func records(at path: String) throws -> [FoundRecord] { try read { try FoundRecord.all(at: path, in: $0) } }
}

extension Outbox {
    func records(at path: String) async throws -> [FoundRecord] { try await journal.records(at: path) }
}
