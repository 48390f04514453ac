// Locks: State of one reading, in the run of its window. What it shows goes into `LiveStore`, under its lock.

import FeathersCore
import FeathersSupport
import Foundation

/// Shows the stored list of a live query: its beginning at once, then the rest. Follows a store that another process
/// writes.
enum LiveStored {
    /// The number of records that are shown before the rest is read.
    private static let beginning = 200
    /// How often a store of another process is asked whether it has changed.
    private static let interval = Duration.milliseconds(500)

    /// Puts the beginning of a stored list into a window. What follows it is read in the window's run.
    static func begin<Record: Sendable>(
        _ source: LiveSource<Record>, _ lists: StoredLists, _ slot: ListSlot, _ judge: QueryJudge,
        into window: LiveWindow, in run: LiveRun
    ) async {
        var reading = StoredReading(
            lists: lists, slot: slot, judge: judge, diagnostics: source.service.app.diagnostics)
        await reading.read(atMost: beginning, into: window)
        guard reading.isPart || lists.store.isReadOnly else { return }
        run.add { [weak window, reading] in
            var reading = reading
            if reading.isPart, let window { await reading.readRest(into: window) }
            while lists.store.isReadOnly {
                do { try await lists.clock.sleep(for: interval) } catch { return }
                guard let window else { return }
                await reading.follow(into: window)
            }
        }
    }

    /// Puts a whole stored list into a window.
    static func readAll<Record: Sendable>(
        _ source: LiveSource<Record>, _ lists: StoredLists, _ slot: ListSlot, _ judge: QueryJudge,
        into window: LiveWindow
    ) async {
        var reading = StoredReading(
            lists: lists, slot: slot, judge: judge, diagnostics: source.service.app.diagnostics)
        await reading.read(atMost: .max, into: window)
    }
}

/// A list from disk, with what has changed since it was stored.
struct RestoredList: Sendable {
    /// Nil if none is stored.
    let head: ListHead?
    /// Its first records, in their present states.
    var rows: ResultRows
    /// Whether these are all of its records.
    let isWhole: Bool
    /// What has changed since, in the order of the changes.
    let newer: [Report]

    /// A list that has no records.
    static var none: RestoredList {
        let head = ListHead(
            number: 0, change: 0, date: .current, count: 0, total: nil, limit: nil, growth: 0, isComplete: true,
            isSorted: true, isShaped: false)
        return RestoredList(head: head, rows: ResultRows(), isWhole: true, newer: [])
    }
}

/// Reads a stored list into a window.
private struct StoredReading: Sendable {
    private static let share = 1_000

    let lists: StoredLists
    let slot: ListSlot
    let judge: QueryJudge
    let diagnostics: Diagnostics
    private var stored: StoredList?
    private var rows: [ResultRow] = []
    private var newer: [Report] = []
    private var dataVersion: Int64?

    init(lists: StoredLists, slot: ListSlot, judge: QueryJudge, diagnostics: Diagnostics) {
        (self.lists, self.slot, self.judge, self.diagnostics) = (lists, slot, judge, diagnostics)
    }

    /// Whether more is stored than was read.
    var isPart: Bool { stored.map { $0.isPart || $0.hasNewer } ?? false }

    /// Reads the beginning of a list, and what completes it.
    mutating func read(atMost count: Int, into window: LiveWindow) async {
        do {
            dataVersion = try await lists.dataVersion()
            let old = stored
            guard let stored = try await lists.read(slot, atMost: count, after: old) else { return }
            (self.stored, newer) = (stored, [])
            if let head = stored.head, !head.isSame(as: old?.head) { rows = [] }
            if stored.isDamaged { warn(DamagedList()) }
            await parse(stored)
            show(in: window)
        } catch {
            warn(error)
        }
    }

    /// Reads what follows the beginning, in shares, so that a query that ends does not read on.
    mutating func readRest(into window: LiveWindow) async {
        do {
            while let stored, isPart {
                try Task.checkCancellation()
                guard let next = try await lists.readNext(Self.share, of: stored, slot) else { return }
                self.stored = next
                await parse(next, hasRecords: stored.isPart)
            }
            show(in: window)
            window.store.wake()
        } catch {
            warn(error)
        }
    }

    /// Reads the list again if another process has changed the database.
    mutating func follow(into window: LiveWindow) async {
        // Reports an unreachable database once.
        guard let version = try? await lists.dataVersion(), version != dataVersion else { return }
        await read(atMost: .max, into: window)
        window.store.wake()
    }

    /// Parses records on all processors, and not on the database's thread. If they are damaged, there is no list.
    private mutating func parse(_ next: StoredList, hasRecords: Bool = true) async {
        do {
            let records = hasRecords ? next.records : []
            let (starts, first) = (Array(stride(from: 0, to: records.count, by: 256)), rows.count)
            let parsed = try await starts.concurrentMap(isolation: nil) { [judge] start in
                try Task.checkCancellation()
                return try judge.storedRows(of: records[start...].prefix(256), from: first + start)
            }
            rows += parsed.flatMap(\.self)
            newer += try next.newer[newer.count...].map { try Report($0) }
        } catch {
            stored?.ignore()
            rows = []
            warn(error)
        }
    }

    /// Shows what was read.
    private func show(in window: LiveWindow) {
        guard let stored else { return }
        var list = RestoredList(
            head: stored.head, rows: ResultRows(rows), isWhole: !stored.isPart, newer: newer)
        list.rows = window.withState { [identity = slot.key.service.identity, list] store, _ in
            if let writes = stored.writes { store.replaceQueue(writes, of: identity, in: window.store) }
            // A fetch may have been faster.
            guard let state = store.windows[window.id], state.source != .server, window.sender.isCurrent,
                list.head != nil || !newer.isEmpty
            else { return list.rows }
            return store.restored(list, in: window.id)
        }
        guard let head = stored.head, list.isWhole, !stored.lacksRecords else { return }
        slot.saved.withLock {
            $0 = $0 ?? SavedList(number: head.number, isShaped: head.isShaped, rows: list.rows, chunks: stored.chunks)
        }
    }

    private func warn(_ error: any Error) {
        guard !(error is CancellationError) else { return }
        diagnostics.log(
            .warning, .localStore,
            "A stored list of service '\(slot.key.service.path)' cannot be used and is ignored: \(error)",
            [.path: .string(slot.key.service.path)], error: error)
    }
}

extension QueryJudge {
    /// Returns the rows of stored records.
    /// - Parameter first: The index of the first one in the list.
    /// - Throws: ``DamagedList`` if a record is not JSON, or has another id than it was stored with.
    func storedRows(of records: ArraySlice<StoredRecord>, from first: Int) throws -> [ResultRow] {
        return try zip(first..., zip(records, records.values())).map { index, pair in
            let (stored, record) = pair
            guard let record, key(of: record) == stored.key else { throw DamagedList() }
            let sortValue = sorter?.firstValue { record[$0] }
            return ResultRow(
                Record(stored.key, record), sortValue: sortValue, place: (index + 1) * Window.placeStep)
        }
    }
}

extension StoredRecord {
    /// The record; nil if it was removed.
    fileprivate func value() throws -> JSONValue? {
        guard let json else { return nil }
        guard let value = try? JSONValue(parsing: json[...], maximumDepth: 2048) else { throw DamagedList() }
        return value
    }
}

extension Report {
    fileprivate init(_ stored: StoredRecord) throws {
        let record = try stored.value()
        self.init(name: record == nil ? .removed : .patched, key: stored.key, data: record)
    }
}
