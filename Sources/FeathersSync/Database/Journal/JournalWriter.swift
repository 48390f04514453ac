import FeathersCore
import FeathersSupport
import Foundation

/// Appends to a journal on a dedicated thread. Records that arrive while the disk is busy are stored together.
actor JournalWriter {
    /// A record waiting to be stored.
    private struct Ticket: Sendable {
        let entry: Journal.Entry
        /// Whether the record is stored later if it cannot be stored now.
        let isOwed: Bool
        let onDurable: @Sendable (Int) -> Void
        let end = Promise<Void>()
    }

    let file: URL
    private let limits: Journal.Limits
    private let executor = DiskExecutor(label: "feathers.outbox")
    private let logClock: RelativeClock
    private(set) var journal: Journal?
    /// Records that could not be stored but are still true. They are stored with the next record.
    private var owed: [JournalRecord] = []
    private nonisolated let line = Locked<[Ticket]>([])
    /// Empties the database's log some seconds after it has changed.
    private(set) var emptying: Task<Void, Never>?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameter logClock: Measures how long the log has had changes.
    init(
        _ file: URL, limits: Journal.Limits = Journal.Limits(), logClock: any Clock<Duration> = ContinuousClock()
    ) {
        (self.file, self.limits, self.logClock) = (file, limits, RelativeClock(logClock))
    }

    deinit { emptying?.cancel() }

    /// Opens the journal and returns the pending writes, in the order they were queued.
    func open() throws -> [StoredWrite] {
        let journal = try Journal(file, limits: limits)
        self.journal = journal
        logChanged()
        return journal.takeOpened()
    }

    /// The name of the file of an earlier version that was set aside, if there was one.
    var earlierFile: String? { journal?.earlierFile }

    /// Stores the waiting records, and closes and unlocks the file. Later calls fail.
    func close() {
        flush()
        emptying?.cancel()
        journal?.close()
        journal = nil
    }

    /// Makes the log be emptied soon, so that it does not keep what was removed, and few accepted writes depend on it.
    private func logChanged() {
        guard emptying == nil, journal != nil else { return }
        emptying = Task { [weak self, logClock] in
            guard (try? await logClock.sleep(for: Database.checkpointDelay)) != nil else { return }
            await self?.emptyLog()
        }
    }

    private func emptyLog() {
        emptying = nil
        guard let journal, (try? journal.database.checkpoint(waitingAtMost: Database.checkpointWait)) != true else {
            return
        }
        // Another process reads it.
        logChanged()
    }

    /// Removes the lists and records of a user; those of all users if it is nil.
    func removeRecords(of identity: Identity?) throws {
        flush()
        owed = owed.map { record in
            guard case .ended(let id, let made, let gone, let executed?, let dependents) = record,
                identity == nil || executed.identity == identity
            else { return record }
            return .ended(id, made: made, gone: gone, dependents: dependents)
        }
        guard let journal else { throw closed }
        logChanged()
        try journal.removeRecords(of: identity)
    }

    /// Reads the database in one step, the waiting records included.
    func read<Result: Sendable>(_ body: (Database) throws -> Result) throws -> Result {
        flush()
        guard let journal else { throw closed }
        return try journal.read(body)
    }

    /// Changes other tables than the writes', as a whole or not at all. Ends of writes that could not be stored before
    /// are stored first, because they are older.
    func write<Result: Sendable>(_ body: (Database) throws -> Result) throws -> Result {
        flush()
        guard let journal else { throw closed }
        logChanged()
        if !owed.isEmpty {
            _ = try journal.append(owed.compactMap { try? Journal.entry($0) })
            owed = []
        }
        return try journal.write(body)
    }

    private var closed: FeathersError {
        FeathersError(.gone, "The outbox '\(file.path)' is closed", execution: .neverSent)
    }

    /// Appends a record.
    ///
    /// Not cancellable, because the record reaches the disk regardless. Bounded by the disk.
    /// - Parameters:
    ///   - record: The record to append.
    ///   - isOwed: Whether the record is still true if it cannot be stored. It is then stored with the next record.
    ///   - onDurable: Called once the record is on disk, in the order of the records, before anything else is stored.
    ///     Receives the number of the change if the record is the end of a write whose response is stored, otherwise 0.
    /// - Throws: ``FeathersError`` naming the file if the record was not stored or does not fit. In that case, the
    ///   file contains no part of it.
    nonisolated func append(
        _ record: JournalRecord, isOwed: Bool = false, onDurable: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws {
        let ticket = Ticket(entry: try Journal.entry(record), isOwed: isOwed, onDurable: onDurable)
        line.withLock { $0.append(ticket) }
        await flush()
        // Already settled by this flush or an earlier one, so a cancelled task gets the outcome too.
        try await ticket.end.value()
    }

    private func flush() {
        let tickets = line.withLock { line in
            defer { line = [] }
            return line
        }
        guard !tickets.isEmpty else { return }
        guard let journal else {
            for ticket in tickets { ticket.end.fail(closed) }
            return
        }
        logChanged()
        do {
            let debts = owed.compactMap { try? Journal.entry($0) }
            let refusals = try journal.append(debts + tickets.map(\.entry)).dropFirst(debts.count)
            owed = []
            for (ticket, refusal) in zip(tickets, refusals) {
                if let refusal {
                    ticket.end.fail(refusal)
                } else {
                    ticket.onDurable(ticket.entry.record.endedWrite.flatMap { journal.storedChanges[$0] } ?? 0)
                    ticket.end.resolve(())
                }
            }
        } catch {
            for ticket in tickets {
                if ticket.isOwed { owed.append(ticket.entry.record) }
                ticket.end.fail(error)
            }
        }
    }
}
