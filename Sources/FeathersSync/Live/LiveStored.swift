import FeathersCore
import FeathersSupport
import Foundation

/// Shows the stored result of a live query: its beginning at once, then the rest. Follows a store that another process
/// writes. Dropping it ends that.
final class LiveStored: Sendable {
    /// The number of records that are shown before the rest is read.
    private static let beginning = 200
    /// How often a store of another process is asked whether it has changed.
    private static let interval = Duration.milliseconds(500)

    private let task: Task<Void, Never>

    private init(_ task: Task<Void, Never>) { self.task = task }

    /// Puts the beginning of a stored result into a window.
    /// - Returns: Nil if that is all there is to read.
    static func begin<Record: Sendable>(
        _ source: LiveSource<Record>, _ results: KeptResults, _ place: KeptPlace, _ judge: QueryJudge,
        into window: LiveWindow
    ) async -> LiveStored? {
        var reading = StoredReading(results: results, place: place, diagnostics: source.service.app.diagnostics) {
            try source.keptRows(of: $0, from: $1, judge)
        }
        await reading.read(atMost: beginning, into: window)
        guard reading.isPart || results.store.isReadOnly else { return nil }
        return LiveStored(
            Task { [weak window, reading] in
                var reading = reading
                if reading.isPart, let window { await reading.readRest(into: window) }
                while results.store.isReadOnly {
                    do { try await results.clock.sleep(for: interval) } catch { return }
                    guard let window else { return }
                    await reading.follow(into: window)
                }
            })
    }

    deinit { task.cancel() }
}

/// Reads a stored result into a window.
private struct StoredReading: Sendable {
    private static let share = 5_000

    let results: KeptResults
    let place: KeptPlace
    let diagnostics: Diagnostics
    /// Parses records, of which the first has an index in the result.
    let parseRows: @Sendable (ArraySlice<[UInt8]>, Int) throws -> [ResultRow]
    private var stored: StoredResult?
    private var rows: [ResultRow] = []
    private var dataVersion: Int64?

    init(
        results: KeptResults, place: KeptPlace, diagnostics: Diagnostics,
        parseRows: @escaping @Sendable (ArraySlice<[UInt8]>, Int) throws -> [ResultRow]
    ) {
        (self.results, self.place, self.diagnostics, self.parseRows) = (results, place, diagnostics, parseRows)
    }

    /// Whether more rows are stored than were read.
    var isPart: Bool { stored?.head.map { $0.count > rows.count } ?? false }

    /// Reads the beginning of a result, and the writes that complete it.
    mutating func read(atMost count: Int, into window: LiveWindow) async {
        do {
            dataVersion = try await results.dataVersion()
            let old = stored?.head
            guard let stored = try await results.read(place, atMost: count) else { return }
            self.stored = stored
            // The result may have been removed and stored again, with another date.
            let isNews = stored.head?.version != old?.version || stored.head?.date != old?.date
            if isNews {
                rows = []
                await parse(stored.records, isWhole: stored.records.count < count)
            }
            show(isNews ? self.stored?.head : nil, in: window)
        } catch {
            warn(error)
        }
    }

    /// Reads the rows that follow the beginning, in shares, so that a query that ends does not read on.
    mutating func readRest(into window: LiveWindow) async {
        do {
            while let stored, isPart {
                try Task.checkCancellation()
                guard let next = try await results.readNext(Self.share, of: stored, place) else { return }
                self.stored?.places += next.places
                await parse(next.records, isWhole: next.records.count < Self.share)
            }
            show(stored?.head, in: window)
            window.store.wake()
        } catch {
            warn(error)
        }
    }

    /// Reads the result again if another process has changed the database.
    mutating func follow(into window: LiveWindow) async {
        // A database that is out of reach is not news each time.
        guard let version = try? await results.dataVersion(), version != dataVersion else { return }
        await read(atMost: .max, into: window)
        window.store.wake()
    }

    /// Parses records on all processors, and not on the database's thread. If they are damaged, there is no result.
    private mutating func parse(_ records: [[UInt8]], isWhole: Bool) async {
        do {
            let (starts, first) = (Array(stride(from: 0, to: records.count, by: 256)), rows.count)
            let parsed = try await starts.concurrentMap(isolation: nil) { [parseRows] start in
                try Task.checkCancellation()
                return try parseRows(records[start...].prefix(256), first + start)
            }
            rows += parsed.flatMap(\.self)
            if isWhole, let head = stored?.head, rows.count != head.count { throw DamagedResult() }
        } catch {
            stored?.head = nil
            rows = []
            warn(error)
        }
    }

    /// Shows what was read.
    /// - Parameter head: Nil if the result is the one that is shown already.
    private func show(_ head: StoredHead?, in window: LiveWindow) {
        guard let stored else { return }
        let result = head.map { KeptResult($0, rows) }
        window.withState { [place] store, _ in
            if let writes = stored.writes { store.replaceQueue(writes, of: place.key.identity, in: window.store) }
            // A fetch may have been faster.
            guard let state = store.windows[window.id], state.source != .server, window.sender.isCurrent else { return }
            if let result { store.restored(result, in: window.id) }
            let (last, unsettled) = (stored.head?.executed ?? 0, stored.head?.unsettled ?? [])
            for write in stored.executed.missing(place.key.identity, after: last, unsettled)
            where write.write.route == window.store.key.route {
                store.restored(write, in: window.id)
            }
        }
        if let head, let result, rows.count == head.count {
            results.didRead(result.rows, stored.places, head, place)
        }
    }

    private func warn(_ error: any Error) {
        guard !(error is CancellationError) else { return }
        diagnostics.log(
            .warning, .localStore,
            "The kept result of service '\(place.key.path)' cannot be used and is ignored: \(error)",
            [.path: .string(place.key.path)], error: error)
    }
}
