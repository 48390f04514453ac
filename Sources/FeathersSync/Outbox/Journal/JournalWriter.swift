import FeathersCore
import FeathersSupport

/// Appends to a journal on a dedicated thread. Records that arrive while the disk is busy are written together.
actor JournalWriter {
    /// A record waiting to be written.
    private struct Ticket: Sendable {
        let entry: Journal.Entry
        /// Whether the record is written later if it cannot be written now.
        let isOwed: Bool
        let onDurable: @Sendable () -> Void
        let end = Promise<Void>()
    }

    private let disk: any JournalDisk
    private let name: String
    private let path: String
    private let limits: Journal.Limits
    private let executor = DiskExecutor(label: "feathers.outbox")
    private var journal: Journal?
    /// Records that could not be written but are still true. They are written with the next record.
    private var owed: [Journal.Entry] = []
    private nonisolated let line = Locked<[Ticket]>([])

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(on disk: any JournalDisk, name: String, path: String, limits: Journal.Limits = Journal.Limits()) {
        (self.disk, self.name, self.path, self.limits) = (disk, name, path, limits)
    }

    /// Opens the journal and returns its contents.
    func open() throws -> JournalContents {
        let journal = try Journal(on: disk, name: name, path: path, limits: limits)
        self.journal = journal
        return journal.contents
    }

    /// Writes the waiting records and unlocks the file. Later calls fail.
    func close() {
        flush()
        guard journal != nil else { return }
        journal = nil
        disk.unlock()
    }

    /// Removes the results of executed writes that were sent to a user; those of all users if it is nil.
    func removeResults(of identity: Identity?) throws {
        flush()
        owed = owed.map { entry in
            guard case .ended(let id, let made, let executed?) = entry.record,
                identity == nil || executed.identity == identity
            else {
                return entry
            }
            return (try? Journal.entry(.ended(id, made: made), path: path)) ?? entry
        }
        guard journal != nil else { throw closed }
        try journal?.removeResults(of: identity)
    }

    private var closed: FeathersError { FeathersError(.gone, "The outbox '\(path)' is closed", execution: .neverSent) }

    /// Appends a record.
    ///
    /// Not cancellable, because the record reaches the disk regardless. Bounded by the disk.
    /// - Parameters:
    ///   - record: The record to append.
    ///   - isOwed: Whether the record is still true if it cannot be written. It is then written with the next record.
    ///   - onDurable: Called once the record is on disk, in the order of the file.
    /// - Throws: ``FeathersError`` naming the file if the record was not written or does not fit. In that case, the
    ///   file contains no part of it.
    nonisolated func append(
        _ record: JournalRecord, isOwed: Bool = false, onDurable: @escaping @Sendable () -> Void = {}
    ) async throws {
        let ticket = Ticket(entry: try Journal.entry(record, path: path), isOwed: isOwed, onDurable: onDurable)
        line.withLock { $0.append(ticket) }
        await flush()
        // Already settled by this flush or an earlier one, so a cancelled task gets the outcome too.
        try await ticket.end.value()
    }

    private func flush() {
        var tickets = line.withLock { line in
            defer { line = [] }
            return line
        }
        guard !tickets.isEmpty else { return }
        guard var journal else {
            for ticket in tickets { ticket.end.fail(closed) }
            return
        }
        // Moved out, so that mutating it does not copy it.
        self.journal = nil
        defer { self.journal = journal }
        var room = journal.room
        tickets.removeAll { ticket in
            do {
                try room.take(ticket.entry)
                return false
            } catch {
                ticket.end.fail(error)
                return true
            }
        }
        guard !tickets.isEmpty else { return }
        do {
            try journal.append(owed + tickets.map(\.entry))
            owed = []
            for ticket in tickets {
                ticket.onDurable()
                ticket.end.resolve(())
            }
        } catch {
            for ticket in tickets {
                if ticket.isOwed { owed.append(ticket.entry) }
                ticket.end.fail(error)
            }
        }
    }
}
