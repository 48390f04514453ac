import FeathersCore
import FeathersSupport

/// Appends to a journal off the shared threads. What is asked for while the disk is busy goes to it in one piece.
actor JournalWriter {
    /// A record on its way to the disk.
    private struct Ticket: Sendable {
        let entry: Journal.Entry
        /// Whether the record is to be written later where that fails now.
        let isOwed: Bool
        let onDurable: @Sendable () -> Void
        let end = Promise<Void>()
    }

    private let disk: any JournalDisk
    private let name: String
    private let path: String
    private let executor = DiskExecutor(label: "feathers.outbox")
    private var journal: Journal?
    /// What the disk would not take and is true all the same; it goes with the next record.
    private var owed: [Journal.Entry] = []
    private nonisolated let line = Locked<[Ticket]>([])

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(on disk: any JournalDisk, name: String, path: String) {
        (self.disk, self.name, self.path) = (disk, name, path)
    }

    /// Opens the journal.
    /// - Returns: what it holds.
    func open() throws -> JournalContents {
        let journal = try Journal(on: disk, name: name, path: path)
        self.journal = journal
        return journal.contents
    }

    /// Writes what is in line and gives the file back; what comes later fails.
    func close() {
        flush()
        guard journal != nil else { return }
        journal = nil
        disk.unlock()
    }

    /// Appends a record.
    ///
    /// It cannot be cancelled, since what is on its way to the disk gets there; it is bounded by the disk.
    /// - Parameters:
    ///   - isOwed: whether the record is true also where it is not written: it is then written with the next one.
    ///   - onDurable: called once it is on the disk, in the order of the file.
    /// - Throws: ``FeathersError`` naming the file where it was not written; nothing of it is in the file then.
    nonisolated func append(
        _ record: JournalRecord, isOwed: Bool = false, onDurable: @escaping @Sendable () -> Void = {}
    ) async throws {
        let ticket = Ticket(entry: try Journal.entry(record, path: path), isOwed: isOwed, onDurable: onDurable)
        line.withLock { $0.append(ticket) }
        await flush()
        // Settled by now, by this flush or by one before it: a cancelled task, too, learns how.
        try await ticket.end.value()
    }

    private func flush() {
        let tickets = line.withLock { line in
            defer { line = [] }
            return line
        }
        guard !tickets.isEmpty else { return }
        guard var journal else {
            for ticket in tickets { ticket.end.fail(FeathersError(.gone, "The outbox '\(path)' is closed", execution: .neverSent)) }
            return
        }
        // Taken out, so that it is changed in place.
        self.journal = nil
        defer { self.journal = journal }
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
