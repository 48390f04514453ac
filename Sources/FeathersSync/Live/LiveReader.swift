// Locks: State of one reader, in the task that reads its snapshots. What is shared is in `LiveStore`, under its lock.

import FeathersCore
import FeathersSupport
import Foundation

/// Reads a live query: takes snapshots of its window in its reader's task, and has the result fetched when necessary.
struct LiveReader<Record: Sendable>: LiveRowsReading {
    private var source: LiveSource<Record>
    private let unknown: UnknownRelations
    /// Nil if the query is not valid.
    private var judge: QueryJudge?
    private let refusal: (any Error)?
    /// The window in the store of the user whose records are shown; nil before the first snapshot.
    private(set) var window: LiveWindow?
    /// Receives an element for each change.
    private let wake: AsyncStream<Void>.Continuation
    /// The keys whose records are wanted, if the query is that of a relation.
    private var keys: RelatedKeys?
    /// The rows of the last snapshot; nil before the first one.
    private var shown: ResultRows?
    private var shownSource: ResultSource?
    private var shownTotal: (count: Int?, isEstimated: Bool, hasMore: Bool) = (nil, false, false)
    private var shownUndecodable = 0
    private var shownMissing = MissingRecords()
    /// Whether there may be stored records of the keys that were not looked for.
    private var hasNewKeys = false
    /// The sign-in to which something was shown last; nil before the first snapshot.
    private(set) var shownFor: RequestSender?
    /// The rows of the window that have been decoded, including those that could not be.
    private var decoded = ResultRows()
    /// The versions in `decoded` that are left out, because they cannot be decoded.
    private var undecodable: Set<Int> = []
    /// Where the list is stored, if it is.
    private var slot: ListSlot?
    /// What is done for the window meanwhile.
    private var run: LiveRun?
    /// Whether the app could not connect when the window was read last.
    private var couldNotConnect = false
    /// Whether a record that looks like that of a creation in flight must be shown later.
    private var hasLookAlikes = false

    init(_ source: LiveSource<Record>, _ wake: AsyncStream<Void>.Continuation) {
        (self.source, self.wake) = (source, wake)
        unknown = UnknownRelations(source.service.app.diagnostics, path: source.service.path)
        keys = source.relation.flatMap { $0.part == nil ? RelatedKeys(property: $0.property) : nil }
        do {
            if let failure = source.refusal { throw failure }
            try source.service.app.refuseToken(in: source.params, for: "A live query")
            judge = try QueryJudge(
                source.params.query.joined(with: source.query), id: source.id, operators: source.operators)
            judge?.boundary = source.boundary
            judge?.anchor = source.anchor?.id.key
            refusal = nil
        } catch {
            (judge, refusal) = (nil, error)
        }
    }

    /// Ends the reading.
    mutating func close() { (run, window) = (nil, nil) }

    /// Returns a snapshot if it differs from the previous one. Otherwise, the next element of `wake` may bring one.
    mutating func poll(isolation actor: isolated (any Actor)?) async throws -> LiveSnapshot<Record>? {
        if let refusal { throw refusal }
        while true {
            guard let judge else { return nil }
            try Task.checkCancellation()
            guard let window else {
                await open(for: await source.service.app.resolvedSender())
                // The sign-in may have ended before the store listened.
                if let window, !window.sender.isCurrent { close() }
                continue
            }
            let (next, isRenamed, failure, hasNews) = window.store.withState { state in
                (
                    state.next, state.isRenamed, state.readers[window.id]?.failure,
                    state.store.takeNews(of: window.id)
                )
            }
            if let next {
                // The previous user's records are taken away before the next user's are shown.
                close()
                if let snapshot = emptied(for: next.identity) { return snapshot }
                continue
            }
            if isRenamed {
                close()
                continue
            }
            if let failure { throw failure }
            let cannotConnect = source.service.app.cannotConnect
            // A relation can have hundreds of windows in one store, which wakes the readers of all.
            if !hasNews, !hasNewKeys, cannotConnect == couldNotConnect { return nil }
            couldNotConnect = cannotConnect
            await restoreRecords(into: window)
            // What is stored is shown before the fetch begins, because a fast server's response would replace it.
            let snapshot = try await storedOrFetchedSnapshot(window, judge, isolation: actor)
            if let run {
                if source.relation?.isUnsent != true { LiveFetch.begin(source, window, in: run) }
                if hasLookAlikes { run.showLookAlikes(window, source.clock) }
            }
            return snapshot
        }
    }

    /// Changes the keys whose records are wanted.
    mutating func changeKeys(_ change: RelatedKeys.Change) {
        var change = change
        if let outbox = source.service.app.outbox, keys?.property == source.id {
            // The creation may just have been executed, although the rows still have the provisional id.
            let provisional = outbox.withState { [source] state in
                change.added.filter { _, value in
                    guard let id = ServiceID(value) else { return false }
                    return state.names[id, source.service.path, source.params.route]?.isProvisional ?? false
                }
            }
            change.unsent.formUnion(provisional.keys)
        }
        keys?.apply(change)
        hasNewKeys = hasNewKeys || !change.added.isEmpty
        window?.change { store, _ in if let window { store.changeKeys(of: window.id, change) } }
    }

    /// Shows stored records of the keys, whatever lists have them, if the server cannot be reached.
    private mutating func restoreRecords(into window: LiveWindow) async {
        guard hasNewKeys, keys?.property == source.id, let lists = source.service.app.storedLists,
            source.service.app.cannotConnect || window.withState({ $1.isUnreachable })
        else { return }
        hasNewKeys = false
        do { try await source.restoreRecords(into: window, lists) } catch {
            source.service.app.diagnostics.log(
                .warning, .localStore,
                "The stored records of service '\(source.service.path)' cannot be read: \(error)",
                [.path: .string(source.service.path)], error: error)
        }
    }

    /// Opens a window in the store of a user, with the last result from disk if there is one.
    private mutating func open(for sender: RequestSender) async {
        let app = source.service.app
        if let named = app.outbox?.withState({ [source] in source.named($0.names) }) {
            source = named
            judge = app.outbox?.withState { [judge] in judge?.named($0.names) } ?? judge
        }
        guard let judge else { return }
        let store = app.liveStores.store(of: source.service, source.params.route, id: source.id, sender)
        var opened = Window(judge, hasRoute: !source.params.route.isEmpty)
        opened.growth = source.growth
        if let keys { opened.beginKeys(keys.property) }
        let window = store.open(opened, shownFor: shownFor, wake)
        let run = LiveRun()
        if let keys {
            window.withState { store, _ in store.changeKeys(of: window.id, RelatedKeys.Change(adding: keys)) }
        }
        (self.window, self.run, hasNewKeys) = (window, run, keys != nil)
        // The records of a key that the server does not know are those of queued writes.
        if source.relation?.isUnsent == true {
            return window.withState { store, _ in _ = store.restored(.none, in: window.id) }
        }
        // The control must not retain itself.
        var fetched = source
        fetched.control = LiveControl(source.control.turns)
        source.control.add(window, growingAt: source.relation == nil ? source.end : nil) {
            [source = fetched, weak window] in
            if let window { try await source.fetchAll(window) }
        }
        guard let lists = app.storedLists else { return }
        run.showAfterSilence(window, lists)
        // What a replica has is read from it, and needs no list of its own.
        slot = source.replica(for: window) == nil ? source.listKey(for: sender.identity).map(lists.slot) : nil
        if let slot { await LiveStored.begin(source, lists, slot, judge, into: window, in: run) }
        guard let half = source.half, half.sender == sender else { return }
        window.withState { store, _ in
            if store.windows[window.id]?.isKnown == false { store.restored(half.list, in: window.id) }
        }
    }

    /// Returns the next snapshot. A stored list that cannot be decoded counts as absent.
    private mutating func storedOrFetchedSnapshot(
        _ window: LiveWindow, _ judge: QueryJudge, isolation actor: isolated (any Actor)?
    ) async throws -> LiveSnapshot<Record>? {
        while true {
            do {
                let snapshot = try await snapshot(window, judge, isolation: actor)
                if snapshot?.source == .server, let slot { source.service.app.storedLists?.changed(window, slot) }
                return snapshot
            } catch let error as UndecodableList {
                try Task.checkCancellation()
                source.service.app.diagnostics.log(
                    .warning, .localStore,
                    "A stored list of service '\(source.service.path)' cannot be decoded and is ignored",
                    [.path: .string(source.service.path)], error: error.cause)
                // A response may have replaced it meanwhile.
                window.withState { store, _ in
                    guard store.windows[window.id]?.source != .server else { return }
                    _ = store.change(window.id) { $0.clear() }
                }
            }
        }
    }

    private mutating func snapshot(
        _ window: LiveWindow, _ judge: QueryJudge, isolation actor: isolated (any Actor)?
    ) async throws -> LiveSnapshot<Record>? {
        let cannotConnect = source.service.app.cannotConnect
        var (isWorthShowing, hasLookAlikes) = (false, false)
        // Taken in one step, so that rows, states and total belong together.
        let content: LiveContent? = window.withState { store, reader in
            if cannotConnect { reader.isUnreachable = true }
            hasLookAlikes = !store.lookAlikes.isEmpty && !reader.awaitsLookAlikes
            guard window.sender.isCurrent, let content = store.content(of: window.id),
                let state = store.windows[window.id]
            else { return nil }
            // An empty list is shown to the sign-in to which something was shown, after an answer, or after silence.
            isWorthShowing =
                reader.shownFor == window.sender || state.isKnown || reader.isWaitingForUser || reader.isUnreachable
            guard isWorthShowing || !content.rows.isEmpty else { return nil }
            return LiveContent(
                rows: content.rows, source: state.source, total: content.total,
                isTotalEstimated: content.isTotalEstimated, hasMore: state.hasMore,
                missing: MissingRecords(
                    unfetched: state.missing, leftOut: state.unread, failure: reader.relatedFailure),
                firstKeys: store.records.firstKeys)
        }
        self.hasLookAlikes = hasLookAlikes
        guard var content else { return nil }
        content.unknown = unknown
        var (rows, changes) = (content.rows, content.rows.changes(since: decoded))
        let isWhole = undecodable.isEmpty
        let failed: Set<Int>
        do { failed = try await decode(content, judge, changes, isolation: actor) } catch {
            throw content.source == .server ? error : UndecodableList(cause: error)
        }
        // The user may have left meanwhile.
        guard window.sender.isCurrent else { return nil }
        if !undecodable.isEmpty { for index in changes.flatMap(\.old) { undecodable.remove(decoded[index].version) } }
        undecodable.formUnion(failed)
        decoded = content.rows
        // Takes time for the whole result, but only while something is left out.
        if !undecodable.isEmpty {
            let failed = rows.filter { undecodable.contains($0.version) }
            if let keys { content.missing.leftOut.formUnion(failed.compactMap { keys.text(in: $0.record) }) }
            content.undecodableCount = failed.count { !$0.isWritten }
            // For example of another version of the app.
            if content.undecodableCount == rows.count(where: { !$0.isWritten }), content.undecodableCount > 0,
                content.source != .server, keys == nil
            {
                throw UndecodableList(cause: FeathersError(.generalError, "None of the records can be decoded"))
            }
            rows.removeAll { undecodable.contains($0.version) }
        }
        if !isWhole || !undecodable.isEmpty { changes = rows.changes(since: shown ?? ResultRows()) }
        // Possibly none of the queued writes can be decoded yet, because the server sets properties that the model
        // requires.
        guard isWorthShowing || !rows.isEmpty else { return nil }
        return show(rows, content, changes)
    }

    /// Returns a snapshot of rows; nil if it is the same as the previous one.
    private mutating func show(_ rows: ResultRows, _ content: LiveContent, _ changes: [ResultRows.Change])
        -> LiveSnapshot<Record>?
    {
        let difference = LiveDifference(changes, of: rows, since: shown ?? ResultRows(), firstKeys: content.firstKeys)
        guard let window else { return nil }
        // A user's first records are news, also if the previous user had the same.
        let isSame =
            shownFor == window.sender && difference.isEmpty && content.source == shownSource
            && content.total == shownTotal.count
            && content.isTotalEstimated == shownTotal.isEstimated && content.hasMore == shownTotal.hasMore
            && content.missing == shownMissing && content.undecodableCount == shownUndecodable
        guard !isSame else { return nil }
        (shown, shownSource, shownFor) = (rows, content.source, window.sender)
        shownUndecodable = content.undecodableCount
        (shownTotal, shownMissing) = ((content.total, content.isTotalEstimated, content.hasMore), content.missing)
        window.withState { $1.shownFor = window.sender }
        return LiveSnapshot(rows, content, difference, identity: window.sender.identity)
    }

    /// Returns an empty snapshot in the place of a previous user's; nil if that was empty too.
    private mutating func emptied(for identity: Identity?) -> LiveSnapshot<Record>? {
        guard let old = shown, !old.isEmpty || shownTotal.count != nil else { return nil }
        let content = LiveContent()
        let difference = LiveDifference(
            ResultRows().changes(since: old), of: ResultRows(), since: old, firstKeys: content.firstKeys)
        (shown, shownSource, shownTotal) = (ResultRows(), content.source, (nil, false, false))
        (decoded, undecodable, shownMissing, shownUndecodable) = (ResultRows(), [], MissingRecords(), 0)
        return LiveSnapshot(ResultRows(), content, difference, identity: identity)
    }

    /// Decodes the rows that are new, each version once.
    /// - Returns: The versions of those to leave out.
    private func decode(
        _ content: LiveContent, _ judge: QueryJudge, _ changes: [ResultRows.Change],
        isolation actor: isolated (any Actor)?
    ) async throws -> Set<Int> {
        guard !source.showsRecords || judge.hasSelection else { return [] }
        let rows = changes.flatMap { $0.new.map { content.rows[$0] }.filter { !$0.isDecoded } }
        // A long result is decoded on all processors, in shares of so many rows. On a virtual machine with two, 1,000
        // fetched records are shown after 3.2 ms instead of 3.5.
        let share = rows.count < 512 ? rows.count : 256
        let shares = stride(from: 0, to: rows.count, by: max(share, 1)).map { rows[$0...].prefix(share) }
        let failed = try await shares.concurrentMap { [source, undecodable] in
            try source.decode($0, judge, except: undecodable)
        }
        return failed.reduce(into: []) { $0.formUnion($1) }
    }
}

/// A list from disk has records that cannot be decoded.
private struct UndecodableList: Error {
    let cause: any Error
}

/// What a snapshot is made of.
struct LiveContent: Sendable {
    var rows = ResultRows()
    var source = ResultSource.stored(since: .distantPast)
    var total: Int?
    var isTotalEstimated = false
    var hasMore = false
    var hasMoreBefore = false
    /// Receives the relations that rows are read with although the query does not include them.
    var unknown: UnknownRelations?
    /// The number of records that are left out, because they cannot be decoded.
    var undecodableCount = 0
    /// What is not here, if the window has keys.
    var missing = MissingRecords()
    var firstKeys = FirstKeys()
}

extension LiveSource {
    /// Returns the same query with ids in place of keys; nil if it has no key with an id.
    func named(_ names: Names) -> LiveSource? {
        var (new, missing): (LiveSource, [Names.Missing]) = (self, [])
        new.params.route = names.translated(params.route, &missing)
        let (query, others) = (query.named(names), params.query.named(names))
        new.query = query ?? new.query
        new.params.query = others ?? new.params.query
        return query == nil && others == nil && new.params.route == params.route ? nil : new
    }

    /// Decodes rows that have not been decoded.
    /// - Returns: The versions of those to leave out.
    fileprivate func decode(_ rows: ArraySlice<ResultRow>, _ judge: QueryJudge, except undecodable: Set<Int>) throws
        -> Set<Int>
    {
        var failed: Set<Int> = []
        let decode = decoder(true)
        for row in rows {
            if undecodable.contains(row.version) {
                failed.insert(row.version)
            } else if let element = row.isWritten
                ? decodeWritten(row, judge, decode) : try decode(judge.select(row.record))
            {
                row.decoded(as: element)
            } else if row.isWritten || params.skipsUndecodableRecords {
                failed.insert(row.version)
            } else {
                throw FeathersError(.generalError, "A record of service '\(service.path)' cannot be decoded")
            }
        }
        return failed
    }

    /// Decodes a record with pending writes.
    /// - Parameter decode: Decodes a record, and warns if it cannot, which only the last form of the record does.
    /// - Returns: Nil if the model needs properties that only the server can set.
    func decodeWritten(_ row: ResultRow, _ judge: QueryJudge, _ decode: (JSONValue) throws -> Element?)
        -> Element?
    {
        let (record, attempt) = (judge.select(row.record), decoder(false))
        if let element = try? attempt(record) { return element }
        // A provisional id is text, also where a record refers to another one. The model's ids may be numbers, and its own
        // may be missing until the server has responded.
        let outbox = service.app.outbox
        let numbered = record.withProvisionalNumbers { id in
            outbox?.withState { $0.queue.items[id] != nil } ?? false
        }
        guard case .object(var object) = numbered else { return nil }
        let isProvisional = record[id]?.string == row.key
        if isProvisional { object[id] = .provisionalNumber(for: row.key) }
        if let element = try? attempt(.object(object)) { return element }
        guard isProvisional else { return try? decode(record) }
        object[id] = nil
        return try? decode(.object(object))
    }
}
