// Locks: Used by `JournalWriter` alone, on its thread.

import FeathersCore
import FeathersSupport
import Foundation

/// The database of an outbox, opened by the one process that writes and sends. Appended records are durable.
///
/// Blocks during disk access: do not call it on the shared thread pool.
final class Journal {
    /// An event together with the values for its row.
    struct Entry: Sendable {
        let event: WriteEvent
        fileprivate let values: [SQLiteValue]
        fileprivate var size: Int { JournalTables.size(of: values) }
        /// The rows of several writes.
        fileprivate var rows: [[SQLiteValue]] {
            stride(from: 0, to: values.count, by: JournalTables.columnCount).map {
                Array(values[$0..<$0 + JournalTables.columnCount])
            }
        }
    }

    /// The capacity of a journal. Opening a journal reads all pending writes into memory.
    struct Limits: Sendable {
        /// The maximum number of writes.
        var writes = 100_000
        /// The maximum size of the writes' data, in bytes.
        var dataBytes = 256 * 1024 * 1024
        /// The maximum size of the errors with which a server refused them, in bytes.
        var failureBytes = 16 * 1024 * 1024
    }

    /// How much of the capacity is used.
    private struct Usage {
        var (writes, dataBytes, failureBytes) = (0, 0, 0)
    }

    let database: Database
    private let path: String
    private let limits: Limits
    /// Held until the file is closed.
    private let lock: OpenFile
    private var usage = Usage()
    /// The changes of records that were stored last, by the writes whose responses brought them.
    private(set) var storedChanges: [UUID: Int] = [:]
    /// The pending writes in their order, as they were when the journal was opened. Taken once.
    private var opened: [StoredWrite] = []

    /// The name of the file of an earlier version that was set aside, if there was one.
    let earlierFile: String?

    /// Opens a journal, or creates one. A file of an earlier version is set aside.
    /// - Throws: ``FeathersError`` naming the file and the reason if it cannot be used. In that case, nothing of it was
    ///   removed.
    init(_ file: URL, limits: Limits = Limits()) throws {
        (path, self.limits) = (file.path, limits)
        let name = file.lastPathComponent
        do {
            let directory = try SafeDirectory.make(file.deletingLastPathComponent().path)
            guard let lock = try directory.lock("\(name).lock") else {
                throw Unusable(description: "another outbox uses it, in this process or in another one")
            }
            self.lock = lock
            do {
                (database, earlierFile) = try Self.database(name, in: directory)
                usage = try Self.usage(in: database)
                guard usage.writes <= limits.writes, usage.dataBytes <= limits.dataBytes else {
                    throw Unusable(
                        description: "it holds more than \(limits.writes) writes or \(limits.dataBytes) bytes of "
                            + "data, which are the limits. Nothing was changed")
                }
                opened = try JournalTables.writes(in: database)
            } catch {
                // After the file is repaired, a later attempt must find it unlocked.
                lock.unlock()
                throw error
            }
        } catch {
            throw Self.failure(file.path, "cannot be used", error)
        }
    }

    private static func database(_ name: String, in directory: SafeDirectory) throws -> (Database, String?) {
        do { return (try Database.open(name, in: directory, JournalTables.schema), nil) } catch let failure
            as DatabaseFailure
        {
            guard case .otherVersion(let version, let supported) = failure.reason, 1..<supported ~= version else {
                throw failure
            }
            let other = "\(name).version\(version)"
            try Database.rename(name, to: other, in: directory)
            return (try Database.open(name, in: directory, JournalTables.schema), other)
        }
    }

    /// Also checks the numbers that later steps rely on.
    private static func usage(in database: Database) throws -> Usage {
        // Sums are bounded only if no part is negative. Text is greater than all numbers.
        let sql = """
            SELECT count(*), CAST(total(size) AS INTEGER), CAST(total(failure_size) AS INTEGER), min(size),
            max(size), min(failure_size), max(failure_size), max(number) FROM writes
            """
        var usage = Usage()
        try database.forEachRow(sql, []) { row in
            usage.writes = try row.requiredNumber(0)
            (usage.dataBytes, usage.failureBytes) = (try row.requiredNumber(1), try row.requiredNumber(2))
            for column in 3...7 { _ = try row.number(column) }
        }
        _ = try RecordTables.lastChange(in: database)
        return usage
    }

    /// Returns the writes that the journal contained when it was opened, once.
    func takeOpened() -> [StoredWrite] {
        defer { opened = [] }
        return opened
    }

    /// Closes the database and unlocks it.
    func close() {
        database.close()
        // Closing is not enough: a program that is being started briefly holds a copy of the descriptor, and with it
        // the lock.
        lock.unlock()
    }

    /// Stores events in one transaction. Afterward, ``storedChanges`` has the numbers of the changes that the ends of
    /// writes have brought.
    /// - Returns: For each event, why it does not fit; nil if it is stored.
    /// - Throws: ``FeathersError`` naming the file and the reason. In that case, none of them is stored.
    func append(_ entries: [Entry]) throws -> [FeathersError?] {
        let before = usage
        storedChanges = [:]
        do {
            return try database.transaction {
                try entries.map { entry in
                    do {
                        try apply(entry)
                        return nil
                    } catch let full as Full {
                        return FeathersError(
                            .generalError, "The outbox file '\(path)' is full: it can hold at most \(full.limit)",
                            execution: .neverSent)
                    }
                }
            }
        } catch {
            usage = before
            throw Self.failure(path, "cannot be written", error)
        }
    }

    /// Removes the lists and records of a user, from the files too unless another process reads them now; those of all
    /// users if it is nil.
    /// - Throws: ``FeathersError`` naming the file if it cannot be written.
    func removeRecords(of identity: Identity?) throws {
        try write { try LocalRoom.removeAll(of: identity, in: $0) }
        do { try database.checkpoint(waitingAtMost: Database.checkpointWait) } catch {
            throw Self.failure(path, "cannot be written", error)
        }
    }

    /// Reads the database in one step.
    /// - Throws: ``FeathersError`` naming the file if it cannot be read, or the closure's error.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        do { return try database.snapshot { try body(database) } } catch let error as DatabaseFailure {
            throw Self.failure(path, "cannot be read", error)
        }
    }

    /// Changes other tables than the writes', as a whole or not at all.
    /// - Throws: ``FeathersError`` naming the file if it cannot be written, or the closure's error.
    func write<Result>(_ body: (Database) throws -> Result) throws -> Result {
        do { return try database.transaction { try body(database) } } catch let error as DatabaseFailure {
            throw Self.failure(path, "cannot be written", error)
        }
    }

    // MARK: Errors

    private struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    private static func failure(_ path: String, _ what: String, _ error: any Error) -> FeathersError {
        let reason =
            switch error {
            case let error as DatabaseFailure where [.notADatabase, .foreign].contains(error.reason):
                "it is not an outbox file. Nothing was changed"
            case let error as DatabaseFailure: error.explanation
            default: "\(error)"
            }
        return FeathersError(
            .generalError, "The outbox file '\(path)' \(what): \(reason)", execution: .neverSent, cause: error)
    }
}

// MARK: - Rows

extension Journal {
    private struct Full: Error {
        let limit: String
    }

    /// Encodes an event.
    /// - Throws: ``FeathersError/Code/badRequest`` if the event cannot be encoded as JSON.
    static func entry(_ event: WriteEvent) throws -> Entry {
        do {
            let values: [SQLiteValue] =
                switch event {
                case .queued(let writes), .migrated(let writes):
                    try writes.flatMap { try JournalTables.values(of: $0) }
                case .failed(let failure):
                    [
                        try JournalTables.json(failure.reason, failure.error),
                        // If the details do not fit.
                        try JournalTables.json(failure.reason, failure.error.stored(details: 0)),
                    ]
                case .decided(_, let new?):
                    [
                        .text(new.key.text), try JournalTables.json(new.data ?? .null),
                        try JournalTables.json(new.base),
                        SQLiteValue(new.tag),
                    ]
                case .taken, .begun, .deferred, .decided, .ended: []
                }
            return Entry(event: event, values: values)
        } catch {
            throw FeathersError(.badRequest, "The write cannot be encoded as JSON: \(error)", execution: .neverSent)
        }
    }

    /// Changes the rows of a write. The progress of writes always fits: otherwise, a full journal would stay full.
    /// - Throws: ``Full`` before anything is changed.
    private func apply(_ entry: Entry) throws {
        switch entry.event {
        case .queued: try add(entry.rows)
        case .migrated(let writes): try replace(writes, with: entry.rows)
        case .taken(let identity):
            try database.execute("UPDATE writes SET identity = ? WHERE identity IS NULL", .text(identity.name))
        case .begun(let id): try progress(of: id, .mayHaveExecuted)
        case .deferred(let id, _, let execution): try progress(of: id, execution)
        case .failed(let failure): try fail(failure, entry.values)
        case .decided(let id, nil):
            // The server may know the key.
            let sql = "SELECT execution FROM writes WHERE id = ?"
            let isNew = try database.rows(sql, .text(id.text)) { try $0.string(0) }.first == "neverSent"
            try progress(of: id, isNew ? .neverSent : .answered)
        case .decided(let id, _?):
            guard let old = try sizes(of: id) else { return }
            try takeData(entry.size, insteadOf: old.data)
            try progress(of: id, .neverSent)
            try database.execute(
                "UPDATE writes SET key = ?, data = ?, base = ?, tag = ?, size = ? WHERE id = ?",
                entry.values + [SQLiteValue(entry.size), .text(id.text)])
        case .ended(let end):
            if let stored = end.stored { storedChanges[end.write] = try RecordTables.put(stored, in: database) }
            for id in [end.write] + end.dependents.keys { try remove(id) }
            for (key, name) in end.names {
                try JournalTables.put(Names.Stored(key: key, name: name, place: end.place), in: database)
            }
        }
    }

    /// - Parameter forms: The failure as JSON, with its details and without them.
    private func fail(_ failure: OutboxFailure, _ forms: [SQLiteValue]) throws {
        let id = failure.write.id
        guard let old = try sizes(of: id) else { return }
        let used = usage.failureBytes - old.failure
        let form = used + JournalTables.size(of: [forms[0]]) > limits.failureBytes ? forms[1] : forms[0]
        let size = JournalTables.size(of: [form])
        usage.failureBytes = used + size
        let execution: FeathersError.Execution = failure.mayHaveExecuted ? .mayHaveExecuted : .answered
        try database.execute(
            "UPDATE writes SET execution = ?, failure = ?, failure_size = ? WHERE id = ?",
            .text(execution.text), form, SQLiteValue(size), .text(id.text))
    }

    /// Adds the rows of writes: all of them, or none if they do not fit.
    private func add(_ rows: [[SQLiteValue]]) throws {
        guard usage.writes + rows.count <= limits.writes else { throw Full(limit: "\(limits.writes) writes") }
        try takeData(rows.reduce(0) { $0 + JournalTables.size(of: $1) })
        usage.writes += rows.count
        for values in rows { try database.execute(JournalTables.insertion, values) }
    }

    /// Replaces the rows of writes: all of them, or none if they do not fit.
    private func replace(_ writes: [OutboxWrite], with rows: [[SQLiteValue]]) throws {
        let old = try writes.reduce(0) { try $0 + (sizes(of: $1.id)?.data ?? 0) }
        try takeData(rows.reduce(0) { $0 + JournalTables.size(of: $1) }, insteadOf: old)
        for (write, values) in zip(writes, rows) {
            try database.execute(JournalTables.replacement, values + [.text(write.id.text)])
        }
    }

    private func remove(_ id: UUID) throws {
        guard let old = try sizes(of: id) else { return }
        usage.writes -= 1
        usage.dataBytes -= old.data
        usage.failureBytes -= old.failure
        try database.execute("DELETE FROM writes WHERE id = ?", .text(id.text))
    }

    private func takeData(_ count: Int, insteadOf old: Int = 0) throws {
        guard usage.dataBytes - old + count <= limits.dataBytes else {
            throw Full(limit: "\(limits.dataBytes) bytes of data")
        }
        usage.dataBytes += count - old
    }

    private func sizes(of id: UUID) throws -> (data: Int, failure: Int)? {
        try database.rows("SELECT size, failure_size FROM writes WHERE id = ?", .text(id.text)) { row in
            (try row.requiredNumber(0), try row.requiredNumber(1))
        }.first
    }

    /// Records what is known of the attempts at a write: an earlier failure no longer applies.
    private func progress(of id: UUID, _ execution: FeathersError.Execution) throws {
        guard let old = try sizes(of: id) else { return }
        usage.failureBytes -= old.failure
        try database.execute(
            "UPDATE writes SET execution = ?, failure = NULL, failure_size = 0 WHERE id = ?",
            .text(execution.text), .text(id.text))
    }
}
