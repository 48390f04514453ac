import FeathersCore
import FeathersSupport
import Foundation

/// A result that open live queries keep, and what of it is in the database.
final class KeptPlace: Sendable {
    let key: KeptResultKey
    /// Nil until the result is stored or read. Used on the database's thread.
    fileprivate let saved = Locked<SavedResult?>(nil)
    /// Whether the result alone is larger than everything that may be stored.
    fileprivate let isTooLarge = Locked(false)

    fileprivate init(_ key: KeptResultKey) { self.key = key }
}

/// The last results of live queries, in the database of an app's outbox.
final class KeptResults: Sendable {
    /// A changed result that must be stored.
    private enum Change: Sendable {
        /// Retained until it is stored, so that a query that has just ended is kept too.
        case window(LiveWindow)
        /// Taken while the app is not running, so that the query is not retained, with the number of the last write that
        /// was executed before.
        case result(KeptResult, RequestSender, executed: Int)

        var result: KeptResult? {
            switch self {
            case .window(let window): KeptResult(window)
            case .result(let result, _, _): result
            }
        }

        /// Whether its user has not left.
        var isCurrent: Bool {
            switch self {
            case .window(let window): window.sender.isCurrent
            case .result(_, let sender, _): sender.isCurrent
            }
        }
    }

    private struct WeakPlace: Sendable {
        weak var place: KeptPlace?
    }

    private struct State: Sendable {
        /// The results of open queries.
        var places: [KeptResultKey: WeakPlace] = [:]
        var changes: [KeptResultKey: (place: KeptPlace, change: Change)] = [:]
        /// The results that were shown from disk.
        var shown: Set<KeptResultKey> = []
        var wake: AsyncStream<Void>.Continuation?
        /// The number of the last write that was executed before the app ran, or while it ran last.
        var executed: Int
        /// The users whose results must be removed.
        var leavers: Set<Identity> = []
        var user: Identity?
        /// Removes the results of users who leave while the app is not running.
        var removal: Task<Void, Never>?
        /// How often results were removed. A result that is stored in several steps ends with one.
        var removals = 0
    }

    /// The number of rows that are stored in one step, so that queued writes do not wait for a long result.
    private static let batch = 1000

    let store: LocalStore
    let clock: RelativeClock
    private let database: LocalDatabase
    private let state: Locked<State>

    /// - Parameter executed: The number of the last executed write in the database.
    init(_ store: LocalStore, _ database: LocalDatabase, executed: Int = 0) {
        (self.store, self.database) = (store, database)
        state = Locked(State(executed: executed))
        clock = RelativeClock(store.clock)
    }

    // MARK: Reading

    /// Returns the place of a result. Queries with the same key share it.
    func place(_ key: KeptResultKey) -> KeptPlace {
        state.withLock { state in
            if let place = state.places[key]?.place { return place }
            state.places = state.places.filter { $0.value.place != nil }
            let place = KeptPlace(key)
            state.places[key] = WeakPlace(place: place)
            return place
        }
    }

    /// Reads the beginning of a stored result.
    /// - Returns: Nil if there is no database.
    func read(_ place: KeptPlace, atMost count: Int) async throws -> StoredResult? {
        let stored = try await database.read { [isReadOnly = store.isReadOnly] database in
            var stored = StoredResult()
            stored.head = try ResultTables.head(place.key, in: database)
            if let head = stored.head {
                (stored.places, stored.records) = try ResultTables.rows(
                    of: head.number, after: 0, atMost: count, in: database)
            }
            stored.executed = try JournalTables.executed(in: database, at: place.key.path)
            if isReadOnly { stored.writes = try JournalTables.writes(in: database, at: place.key.path) }
            return stored
        }
        if stored?.head != nil { state.withLock { _ = $0.shown.insert(place.key) } }
        return stored
    }

    /// Reads rows of a stored result that follow those that were read.
    /// - Returns: Nil if the result has changed since.
    func readNext(_ count: Int, of stored: StoredResult, _ place: KeptPlace) async throws -> (
        places: [Int], records: [[UInt8]]
    )? {
        try await database.read { database in
            guard let head = stored.head, try ResultTables.head(place.key, in: database)?.version == head.version else {
                return nil
            }
            return try ResultTables.rows(
                of: head.number, after: stored.places.last ?? 0, atMost: count, in: database)
        } ?? nil
    }

    /// Notes that a result is in the database as it was read.
    func didRead(_ rows: ResultRows, _ places: [Int], _ head: StoredHead, _ place: KeptPlace) {
        place.saved.withLock { $0 = $0 ?? SavedResult(number: head.number, rows: rows, places: places) }
    }

    /// A number that changes when another process has changed the database; nil if there is none.
    func dataVersion() async throws -> Int64? { try await database.read { try $0.dataVersion } }

    // MARK: Writing

    /// Records that a result has changed. It is stored after a delay.
    func changed(_ window: LiveWindow, _ place: KeptPlace) {
        guard !store.isReadOnly else { return }
        let (isRunning, wake) = state.withLock { state -> (Bool, AsyncStream<Void>.Continuation?) in
            guard let wake = state.wake else { return (false, nil) }
            defer { state.changes[place.key] = (place, .window(window)) }
            return (true, state.changes.isEmpty ? wake : nil)
        }
        wake?.yield()
        guard !isRunning, let result = KeptResult(window) else { return }
        let late = state.withLock { state -> AsyncStream<Void>.Continuation? in
            // Before the app runs, a few results are enough.
            if state.changes.count < 64 || state.changes[place.key] != nil {
                state.changes[place.key] = (place, .result(result, window.sender, executed: state.executed))
            }
            return state.wake
        }
        late?.yield()
    }

    /// Stores changed results until the task is cancelled, and then the last ones.
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
        // If the database cannot be read, results that are taken now are completed by more writes than they lack.
        guard let executed = try? await database.read({ try ResultTables.lastExecuted(in: $0) }) else { return }
        state.withLock { $0.executed = executed }
    }

    /// Stores the changed results.
    func write(_ diagnostics: Diagnostics) async {
        let (changes, shown) = state.withLock { state in
            defer { (state.changes, state.shown) = ([:], []) }
            return (state.changes, state.shown)
        }
        guard !changes.isEmpty || !shown.isEmpty else { return }
        for (place, change) in changes.values {
            do { try await save(change, place) } catch {
                // The database may not have what was noted. Next time, everything is stored again.
                place.saved.withLock { $0 = nil }
                let isExpected = if case ResultTooLarge.size = error { true } else { false }
                diagnostics.log(
                    isExpected ? .notice : .warning, .localStore,
                    "A result of service '\(place.key.path)' cannot be kept: \(error)",
                    [.path: .string(place.key.path)], error: error)
            }
        }
        do {
            try await database.write { [maximumSize = store.maximumSize] database in
                try ResultTables.show(shown, in: database)
                try ResultTables.makeRoom(maximumSize, in: database)
                try ResultTables.sweep(database)
            }
        } catch {
            diagnostics.log(.warning, .localStore, "Old results cannot be removed: \(error)", error: error)
        }
    }

    /// Stores a result: as the changes since the last time, if they are few.
    private func save(_ change: Change, _ place: KeptPlace) async throws {
        guard !place.isTooLarge.withLock({ $0 }) else { return }
        // Taken and stored in one step, so that no write that is executed meanwhile counts as included.
        let long = try await database.write { database -> LongResult? in
            var executed = try ResultTables.lastExecuted(in: database)
            if case .result(_, _, let before) = change { executed = before }
            guard let result = change.result else { return nil }
            if let saved = place.saved.withLock({ $0 }), let changes = saved.changes(to: result.rows),
                changes.removed.count + changes.inserted.count <= Self.batch,
                try ResultTables.change(saved.number, by: changes, to: result, executed: executed, in: database)
            {
                let next = SavedResult(number: saved.number, rows: result.rows, places: changes.places)
                place.saved.withLock { $0 = next }
                return nil
            }
            let long = LongResult(
                result: result, executed: executed, number: try ResultTables.nextNumber(in: database),
                places: SavedResult.places(result.rows.count), removals: self.state.withLock { $0.removals })
            guard result.rows.count <= Self.batch else { return long }
            let size = try ResultTables.insert(zip(long.places, result.rows), into: long.number, in: database)
            try self.end(long, size, change, place, in: database)
            return nil
        }
        if let long { try await save(long, change, place) }
    }

    /// Stores a long result in several steps. It counts once all of its rows are stored.
    private func save(_ long: LongResult, _ change: Change, _ place: KeptPlace) async throws {
        var size = 0
        for start in stride(from: 0, to: long.places.count, by: Self.batch) {
            let range = start..<min(start + Self.batch, long.places.count)
            let rows = zip(long.places[range], range.map { long.result.rows[$0] })
            size += try await database.write { database in
                guard self.state.withLock({ $0.removals }) == long.removals else { return 0 }
                return try ResultTables.insert(rows, into: long.number, in: database)
            }
            guard size <= store.maximumSize else {
                place.isTooLarge.withLock { $0 = true }
                throw ResultTooLarge.size(store.maximumSize)
            }
        }
        try await database.write { [size] database in try self.end(long, size, change, place, in: database) }
    }

    private func end(_ long: LongResult, _ size: Int, _ change: Change, _ place: KeptPlace, in database: Database)
        throws
    {
        // The user may have left, or the rows may have been removed.
        guard change.isCurrent, state.withLock({ $0.removals }) == long.removals else { return }
        try ResultTables.setResult(
            place.key, to: long.result, long.number, size: size, executed: long.executed, in: database)
        place.saved.withLock {
            $0 = SavedResult(number: long.number, rows: long.result.rows, places: long.places)
        }
    }

    // MARK: Removing

    /// Records a sign-in or a log-out, so that the results of a user who has left are removed: while the app is running
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

    /// Waits for the removal of the results of users who have left while the app was not running.
    func removed() async { await state.withLock { $0.removal }?.value }

    /// Removes the results of a user, those of executed writes included; of all users if it is nil.
    /// - Throws: ``FeathersError`` naming the file if it cannot be written.
    func remove(of identity: Identity?) async throws {
        state.withLock { state in
            state.changes = state.changes.filter { identity != nil && $0.key.identity != identity }
            state.removals += 1
        }
        try await database.write { database in
            try ResultTables.removeAll(of: identity, in: database)
            try ResultTables.sweep(database)
        }
        try await database.removeExecuted(of: identity)
    }

    private func removeLeavers(_ diagnostics: Diagnostics) async {
        let leavers = state.withLock { state in
            defer { state.leavers = [] }
            return state.leavers
        }
        for identity in leavers {
            do {
                try await remove(of: identity)
            } catch {
                diagnostics.log(
                    .error, .localStore, "The results of a user who logged out cannot be removed: \(error)",
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

/// What was read of a result, and the writes that complete it.
struct StoredResult: Sendable {
    var head: StoredHead?
    var places: [Int] = []
    /// The records, as JSON.
    var records: [[UInt8]] = []
    /// The writes that were executed last.
    var executed = ExecutedWrites()
    /// The pending writes; nil if an outbox of this process has them.
    var writes: [StoredWrite]?
}

/// A result that is stored as new rows.
private struct LongResult: Sendable {
    let result: KeptResult
    let executed: Int
    let number: Int
    let places: [Int]
    let removals: Int
}

private enum ResultTooLarge: Error, CustomStringConvertible {
    case size(Int)

    var description: String {
        switch self {
        case .size(let size): "it is larger than the store's limit of \(size) bytes"
        }
    }
}
