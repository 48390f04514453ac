// Locks: `StoredLists.state` guards which lists are due; `ListSlot.saved` guards what is known of a list on disk.
// Neither is held while the lock of a store is taken, and neither during access to the disk.

import FeathersCore
import FeathersSupport
import Foundation

/// A list that open live queries store, and what of it is in the database.
final class ListSlot: Sendable {
    let key: ListKey
    /// Nil until the list is stored or read. Used on the database's thread.
    let saved = Locked<SavedList?>(nil)
    /// Whether the list alone is larger than everything that may be stored.
    let isTooLarge = Locked(false)

    fileprivate init(_ key: ListKey) { self.key = key }
}

/// A changed list that must be stored.
enum ListChange: Sendable {
    /// Retained until it is stored, so that a query that has just ended is stored too.
    case window(LiveWindow)
    /// Taken while the app is not running, so that the query is not retained.
    case state(ListState, RequestSender)

    /// Takes the list.
    /// - Parameter change: The number of the last change in the database.
    func state(at change: Int) -> ListState? {
        switch self {
        case .window(let window): ListState(window, at: change)
        case .state(let state, _): state
        }
    }

    /// Whether its user has not left.
    var isCurrent: Bool {
        switch self {
        case .window(let window): window.sender.isCurrent
        case .state(_, let sender): sender.isCurrent
        }
    }
}

/// The records and lists of live queries, in the database of an app's outbox.
final class StoredLists: Sendable {
    private struct WeakSlot: Sendable {
        weak var slot: ListSlot?
    }

    private struct State: Sendable {
        /// The lists of open queries.
        var slots: [ListKey: WeakSlot] = [:]
        var changes: [ListKey: (slot: ListSlot, change: ListChange)] = [:]
        /// The lists that were shown from disk.
        var shown: Set<ListKey> = []
        var wake: AsyncStream<Void>.Continuation?
        /// The number of the last change when lists were stored last. What is taken later may lack later ones.
        var lastChange: Int
        /// The number of keys that have left lists since orphans were removed; nil before they were.
        var lostCount: Int?
        /// The users whose records must be removed.
        var leavers: Set<Identity> = []
        var user: Identity?
        /// Removes the records of users who leave while the app is not running.
        var removal: Task<Void, Never>?
        /// How often records were removed. A list that is stored in several steps ends with one.
        var removals = 0
    }

    let store: LocalStore
    let clock: RelativeClock
    let database: LocalDatabase
    let replicas = StoredReplicas()
    private let state: Locked<State>

    /// - Parameter lastChange: The number of the last change in the database.
    init(_ store: LocalStore, _ database: LocalDatabase, lastChange: Int = 0) {
        (self.store, self.database) = (store, database)
        state = Locked(State(lastChange: lastChange))
        clock = RelativeClock(store.clock)
    }

    // MARK: Reading

    /// Returns the slot of a list. Queries with the same key share it.
    func slot(_ key: ListKey) -> ListSlot {
        state.withLock { state in
            if let slot = state.slots[key]?.slot { return slot }
            state.slots = state.slots.filter { $0.value.slot != nil }
            let slot = ListSlot(key)
            state.slots[key] = WeakSlot(slot: slot)
            return slot
        }
    }

    /// Reads the beginning of a stored list, and what has changed since it was stored.
    /// - Parameter old: The list as it was found before. Its records are not read again if it is the same.
    /// - Returns: Nil if there is no database.
    func read(_ slot: ListSlot, atMost count: Int, after old: StoredList?) async throws -> StoredList? {
        let stored = try await database.read { [isReadOnly = store.isReadOnly] database in
            try StoredList(slot.key, atMost: count, after: old, withWrites: isReadOnly, in: database)
        }
        if stored?.head != nil { state.withLock { _ = $0.shown.insert(slot.key) } }
        return stored
    }

    /// Reads more of a stored list: the records that follow, then what has changed since.
    /// - Returns: Nil if the list has changed.
    func readNext(_ count: Int, of stored: StoredList, _ slot: ListSlot) async throws -> StoredList? {
        try await database.read { database in
            var stored = stored
            if !stored.isPart {
                try stored.readNewer(count, in: database)
            } else if try !stored.readNext(count, slot.key, in: database) {
                return nil
            }
            return stored
        } ?? nil
    }

    /// A number that changes when another process has changed the database; nil if there is none.
    func dataVersion() async throws -> Int64? { try await database.read { try $0.dataVersion } }

    // MARK: Writing

    /// Records that a list has changed. It is stored after a delay.
    func changed(_ window: LiveWindow, _ slot: ListSlot) {
        guard !store.isReadOnly else { return }
        let (isRunning, last, wake) = state.withLock { state -> (Bool, Int, AsyncStream<Void>.Continuation?) in
            guard let wake = state.wake else { return (false, state.lastChange, nil) }
            defer { state.changes[slot.key] = (slot, .window(window)) }
            return (true, 0, state.changes.isEmpty ? wake : nil)
        }
        wake?.yield()
        guard !isRunning, let list = ListState(window, at: last) else { return }
        let late = state.withLock { state -> AsyncStream<Void>.Continuation? in
            // Before the app runs, a few lists are enough.
            if state.changes.count < 64 || state.changes[slot.key] != nil {
                state.changes[slot.key] = (slot, .state(list, window.sender))
            }
            return state.wake
        }
        late?.yield()
    }

    /// Stores changed lists until the task is cancelled, and then the last ones.
    func run(reportingTo diagnostics: Diagnostics) async {
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.wake = wake }
        wake.yield()
        for await _ in wakes {
            await removeLeavers(diagnostics)
            try? await clock.sleep(for: store.writeDelay)
            await write(diagnostics)
        }
        state.withLock { $0.wake = nil }
        await removeLeavers(diagnostics)
        await write(diagnostics)
        // If the database cannot be read, lists that are taken now count as older than they are.
        guard let last = try? await database.read({ try RecordTables.lastChange(in: $0) }) else { return }
        state.withLock { $0.lastChange = last }
    }

    /// Stores the changed lists.
    func write(_ diagnostics: Diagnostics) async {
        let (changes, shown) = state.withLock { state in
            defer { (state.changes, state.shown) = ([:], []) }
            return (state.changes, state.shown)
        }
        guard !changes.isEmpty || !shown.isEmpty else { return }
        for (slot, change) in changes.values {
            do {
                let lost = try await ListSaving(lists: self, slot: slot, change: change).save()
                if let lost { state.withLock { $0.lostCount = $0.lostCount.map { $0 + lost } } }
            } catch {
                // The database may not have what was noted. Next time, everything is stored again.
                slot.saved.withLock { $0 = nil }
                let isExpected = if case ListTooLarge.size = error { true } else { false }
                diagnostics.log(
                    isExpected ? .notice : .warning, .localStore,
                    "A list of service '\(slot.key.service.path)' cannot be stored: \(error)",
                    [.path: .string(slot.key.service.path)], error: error)
            }
        }
        do {
            let last = try await tidy(shown)
            state.withLock { $0.lastChange = last }
        } catch {
            diagnostics.log(.warning, .localStore, "Old records cannot be removed: \(error)", error: error)
        }
    }

    /// Stores what was reported of records, because stored lists may have them.
    /// - Parameter body: What is stored with it.
    func saveReports(of store: LiveStore, and body: @Sendable (Database) throws -> Void = { _ in }) async throws {
        let taken = Locked<[Report]>([])
        do {
            try await database.write { database in
                guard store.key.sender.isCurrent else { return }
                let (reports, watches) = store.withState {
                    ($0.store.takeUnstored(), $0.store.watches.values.map(\.self))
                }
                taken.withLock { $0 = reports }
                if !reports.isEmpty {
                    try RecordTables.put(
                        reports, of: store.key.sender.identity, store.key, adding: watches, in: database)
                }
                try body(database)
            }
        } catch {
            store.withState { [reports = taken.withLock(\.self)] in $0.store.records.putBack(reports.lazy.map(\.key)) }
            throw error
        }
    }

    /// Removes what is not needed any more: at first, and when many keys have left lists.
    /// - Returns: The number of the last change.
    private func tidy(_ shown: Set<ListKey>) async throws -> Int {
        let hasOrphans = state.withLock { state in
            defer { if state.lostCount ?? 1000 >= 1000 { state.lostCount = 0 } }
            return state.lostCount ?? 1000 >= 1000
        }
        return try await database.write { [maximumSize = store.maximumSize] database in
            try ListTables.show(shown, in: database)
            if hasOrphans { try LocalRoom.removeOrphans(in: database) }
            try LocalRoom.makeRoom(maximumSize, in: database)
            return try RecordTables.lastChange(in: database)
        }
    }

    /// The number of removals so far, in which what is being stored may have been removed.
    var removals: Int { state.withLock { $0.removals } }

    // MARK: Removing

    /// Records a sign-in or a log-out, so that the records of a user who has left are removed: while the app is running
    /// by its background work, otherwise by a task of this object's.
    func userChanged(to identity: Identity?, _ diagnostics: @escaping @Sendable () -> Diagnostics?) {
        let change: (wake: AsyncStream<Void>.Continuation?, removal: Task<Void, Never>?)? = state.withLock { state in
            defer { state.user = identity }
            guard let user = state.user, user != identity else { return nil }
            state.leavers.insert(user)
            return (state.wake, state.removal)
        }
        guard let (wake, earlier) = change else { return }
        if let wake {
            wake.yield()
            return
        }
        let removal = Task {
            await earlier?.value
            if let diagnostics = diagnostics() { await self.removeLeavers(diagnostics) }
        }
        // The app reports one change at a time, so no other task has been stored meanwhile.
        state.withLock { $0.removal = removal }
    }

    /// Waits for the removal of the records of users who have left while the app was not running.
    func removed() async { await state.withLock { $0.removal }?.value }

    /// Removes the lists and records of a user; those of all users if it is nil.
    /// - Throws: ``FeathersError`` naming the file if it cannot be written.
    func removeAll(of identity: Identity?) async throws {
        state.withLock { state in
            state.changes = state.changes.filter { identity != nil && $0.key.service.identity != identity }
            state.removals += 1
        }
        try await database.removeAll(of: identity)
    }

    private func removeLeavers(_ diagnostics: Diagnostics) async {
        let leavers = state.withLock { state in
            defer { state.leavers = [] }
            return state.leavers
        }
        for identity in leavers {
            do {
                try await removeAll(of: identity)
            } catch {
                diagnostics.log(
                    .error, .localStore, "The records of a user who logged out cannot be removed: \(error)",
                    error: error)
            }
        }
    }

    // MARK: Contents

    /// Returns what is stored.
    func contents() async throws -> LocalContents {
        try await database.read { try LocalContents(in: $0) } ?? LocalContents()
    }
}
