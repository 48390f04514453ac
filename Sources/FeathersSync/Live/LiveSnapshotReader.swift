// Locks: State of one reader, in the task that reads its snapshots.

import FeathersCore

/// Reads the snapshots of a live query, with the related records that it includes.
struct LiveSnapshotReader<Record: Sendable>: AsyncIteratorProtocol {
    private var reader: any LiveRowsReading<Record>
    private var relations: [(name: String, reading: any RelatedReading)]
    private var wakes: AsyncStream<Void>.Iterator?
    /// The last snapshot of the result itself, and the rows that were shown last.
    private var latest: LiveSnapshot<Record>?
    private var shown: ResultRows?
    /// The wait of the present user's first rows for their related records; nil once they were shown.
    private var wait: RelatedWait?
    private let app: FeathersApp
    private let wake: AsyncStream<Void>.Continuation
    /// Whether anything has changed since.
    private var isDue = false
    private var isOver = false

    init(_ source: LiveSource<Record>) {
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.init(source, wake)
        self.wakes = wakes.makeAsyncIterator()
    }

    /// Reads what `wake` announces to another reader.
    init(_ source: LiveSource<Record>, _ wake: AsyncStream<Void>.Continuation) {
        var source = source
        let selected = source.relations.compactMap { $0.selected(by: source) }
        // Without the property that holds the key, the related record cannot be found.
        if source.query.json["$select"] != nil, !selected.isEmpty { source.query = source.query.selecting(selected) }
        (app, self.wake) = (source.service.app, wake)
        reader = source.rowsReader(wake)
        relations = source.relations.map { [source] in ($0.name, $0.reader(of: source, wake)) }
    }

    /// Returns the next snapshot that differs from the previous one.
    mutating func next(isolation actor: isolated (any Actor)?) async throws -> LiveSnapshot<Record>? {
        guard !isOver else { return nil }
        isOver = true
        do {
            repeat {
                if let snapshot = try await poll(isolation: actor) {
                    isOver = false
                    return snapshot
                }
            } while await wakes?.next(isolation: actor) != nil
            close()
            try Task.checkCancellation()
            return nil
        } catch {
            close()
            throw error
        }
    }

    mutating func close() {
        wait = nil
        reader.close()
        for index in relations.indices { relations[index].reading.close() }
    }

    /// The sign-in whose records are shown; nil before the first one.
    var sender: RequestSender? { reader.window?.sender }
    /// The sign-in to which something was shown last; nil while its first rows wait for their related records.
    var shownFor: RequestSender? { wait == nil ? reader.shownFor : nil }

    /// Returns whether the related records of the rows have been read, or cannot be.
    func isRelatedRead(for sender: RequestSender) -> Bool { relations.allSatisfy { $0.reading.isRead(for: sender) } }

    /// Changes the keys whose records are wanted.
    mutating func changeKeys(_ change: RelatedKeys.Change) { reader.changeKeys(change) }

    /// Returns a snapshot if it differs from the previous one.
    mutating func poll(isolation actor: isolated (any Actor)?) async throws -> LiveSnapshot<Record>? {
        var before = reader.shownFor
        var next = try await reader.poll(isolation: actor)
        if relations.isEmpty { return next }
        repeat {
            begin(since: before)
            if let next { try take(next) }
            // After a sign-in, the rows change first, so that no key of the previous user's is sent for the next one.
            guard sender?.isCurrent ?? true else { return nil }
            for index in relations.indices {
                if try await relations[index].reading.poll(isolation: actor) { isDue = true }
            }
            before = reader.shownFor
            // A record in the making may get its id while its related records are read, which then have another key.
            next = hasNamedRows ? try await reader.poll(isolation: actor) : nil
        } while next != nil
        guard isDue, let latest else { return nil }
        if let wait, let sender, !wait.isOver, !isRelatedRead(for: sender) { return nil }
        wait = nil
        let related = RelatedRecords(
            groups: Dictionary(relations.map { ($0.name, $0.reading.rows) }) { first, _ in first })
        defer { (shown, isDue) = (latest.rows.resultRows, false) }
        return latest.with(related, latest.difference(since: shown ?? ResultRows()))
    }

    /// Begins the wait of a user's first rows for their related records. What is left after a sign-in is shown at once.
    private mutating func begin(since before: RequestSender?) {
        if let sender, sender == reader.shownFor, sender != before {
            let (delay, clock) = app.relatedDelay
            wait = RelatedWait.begin(delay, of: clock, wake)
        } else if sender == nil {
            wait = nil
        }
    }

    /// Takes the result itself, whose rows refer to related records.
    private mutating func take(_ next: LiveSnapshot<Record>) throws {
        isDue = true
        let (old, new) = (latest?.rows.resultRows ?? ResultRows(), next.rows.resultRows)
        let ranges = new.changes(since: old)
        let (removed, added) = (ranges.flatMap { old[$0.old] }, ranges.flatMap { new[$0.new] })
        for index in relations.indices { try relations[index].reading.change(removing: removed, adding: added) }
        latest = next
    }

    /// Whether records in the making may have got their ids since the rows were read.
    private var hasNamedRows: Bool {
        guard let window = reader.window, latest?.rows.resultRows.contains(where: \.isProvisional) == true else {
            return false
        }
        return window.withState { store, _ in store.hasNews(of: window.id) }
    }
}
