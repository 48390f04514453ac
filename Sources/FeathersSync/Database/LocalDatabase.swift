// Locks: `DatabaseReader` is an actor with a thread of its own. The process that writes uses `JournalWriter` instead.

import FeathersCore
import FeathersSupport
import Foundation

/// The database of a local store: that of the app's outbox, or one that another process writes.
enum LocalDatabase: Sendable {
    case outbox(Outbox)
    case reader(DatabaseReader)

    /// Reads, in one step.
    /// - Returns: Nil if there is no database.
    func read<Result: Sendable>(_ body: @Sendable (Database) throws -> Result) async throws -> Result? {
        switch self {
        case .outbox(let outbox): try await outbox.journal.read(body)
        case .reader(let reader): try await reader.read(body)
        }
    }

    /// Changes the database: as a whole, or not at all.
    func write<Result: Sendable>(_ body: @Sendable (Database) throws -> Result) async throws -> Result {
        switch self {
        case .outbox(let outbox): try await outbox.journal.write(body)
        case .reader: throw FeathersError.refused("The stored records cannot be changed: the local store is read-only")
        }
    }

    /// Removes the records of a user, from the files too; those of all users if it is nil.
    func removeAll(of identity: Identity?) async throws {
        switch self {
        case .outbox(let outbox): try await outbox.journal.removeRecords(of: identity)
        case .reader: try await write { _ in }
        }
    }
}

/// Reads a database that another process may be writing, on a thread of its own.
actor DatabaseReader {
    private let file: URL
    private let executor = DiskExecutor(label: "feathers.local-reader")
    private var database: Database?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ file: URL) { self.file = file }

    /// - Returns: Nil if there is no database yet.
    func read<Result: Sendable>(_ body: (Database) throws -> Result) throws -> Result? {
        if database == nil, let directory = try SafeDirectory.open(file.deletingLastPathComponent().path) {
            database = try Database.openForReading(file.lastPathComponent, in: directory, JournalTables.schema)
        }
        guard let database else { return nil }
        // A write that ends in between is pending, or its record is there.
        return try database.snapshot { try body(database) }
    }
}

extension Store {
    /// Shows the queued writes of another process. Whatever their outcome, that process deals with it.
    mutating func replaceQueue(_ writes: [StoredWrite], of identity: Identity?, in store: LiveStore) {
        var queue = OutboxQueue(limit: 1, retry: OutboxRetry())
        queue.identityChanged(to: identity)
        for stored in writes { queue.restore(stored, isKeyed: true) }
        replaceQueue(queue.writes(for: store))
    }
}
