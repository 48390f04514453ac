// Locks: An actor with a thread of its own. `line` guards the events that wait for the disk; it is not held during
// access to it.

import FeathersCore
import FeathersSupport
import Foundation

/// Stores events in a journal on a dedicated thread. Those that arrive while the disk is busy are stored together.
actor JournalWriter {
    /// An event waiting to be stored.
    private struct Ticket: Sendable {
        let entry: Journal.Entry
        let onDurable: @Sendable (Int) -> Void
        let end = Promise<Void>()
    }

    let file: URL
    private let limits: Journal.Limits
    private let executor = DiskExecutor(label: "feathers.outbox")
    private let logClock: RelativeClock
    private(set) var journal: Journal?
    /// Facts that could not be stored. They are stored with the next event.
    private var owed: [WriteEvent] = []
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

    /// Stores the waiting events, and closes and unlocks the file. Later calls fail.
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
        owed = owed.map { event in
            guard case .ended(var end) = event, let stored = end.stored,
                identity == nil || stored.identity == identity
            else { return event }
            end.stored = nil
            return .ended(end)
        }
        guard let journal else { throw closed }
        logChanged()
        try journal.removeRecords(of: identity)
    }

    /// Reads the database in one step, the waiting events included.
    func read<Result: Sendable>(_ body: (Database) throws -> Result) throws -> Result {
        flush()
        guard let journal else { throw closed }
        return try journal.read(body)
    }

    /// Changes other tables than the writes', as a whole or not at all. Facts that could not be stored before are stored
    /// first, because they are older.
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

    /// Stores an event.
    ///
    /// Not cancellable, because the event reaches the disk regardless. Bounded by the disk.
    /// - Parameters:
    ///   - event: The event. If it is a fact that cannot be stored, it is stored with the next event.
    ///   - onDurable: Called once the event is on disk, in the order of the events, before anything else is stored.
    ///     Receives the number of the change if the event is the end of a write whose response is stored, otherwise 0.
    /// - Throws: ``FeathersError`` naming the file if the event was not stored or does not fit. In that case, the
    ///   file contains no part of it.
    nonisolated func append(_ event: WriteEvent, onDurable: @escaping @Sendable (Int) -> Void = { _ in }) async throws {
        let ticket = Ticket(entry: try Journal.entry(event), onDurable: onDurable)
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
                    var change: Int?
                    if case .ended(let end) = ticket.entry.event { change = journal.storedChanges[end.write] }
                    ticket.onDurable(change ?? 0)
                    ticket.end.resolve(())
                }
            }
        } catch {
            for ticket in tickets {
                if ticket.entry.event.isFact { owed.append(ticket.entry.event) }
                ticket.end.fail(error)
            }
        }
    }
}
