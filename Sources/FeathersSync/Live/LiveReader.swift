import FeathersCore
import FeathersSupport
import Foundation

/// Reads a live query: applies events, gaps and local changes one step at a time in its reader's task, and has the
/// result fetched when necessary.
struct LiveReader<Record: Sendable>: AsyncIteratorProtocol {
    private let source: LiveSource<Record>
    /// Nil if the query is not valid.
    private let feed: LiveFeed?
    private let refusal: (any Error)?
    /// The rows of the last snapshot; nil before the first one.
    private var shown: LiveRows?
    private var shownSource: ResultSource?
    private var shownTotal: (count: Int?, isEstimated: Bool) = (nil, false)
    /// The rows of the view that have been decoded, including those that could not be.
    private var decoded = LiveRows()
    /// The versions in `decoded` that are left out, because they cannot be decoded.
    private var undecodable: Set<Int> = []
    /// The sender whose events are being read. A result may be fetched for the next user while the previous user's
    /// events are still buffered.
    private var told: RequestSender?
    /// The user who has just signed in, whose kept result is to be shown.
    private var newSender: RequestSender?
    /// The name under which the result is kept, for the user it was fetched for.
    private var keptKey: KeptResultKey?
    private var fetch: LiveFetch?
    /// Whether local data or the fetch has changed since the last snapshot.
    private var wasWoken = false
    private var hasBegun = false
    private var isOver = false

    init(_ source: LiveSource<Record>) {
        self.source = source
        do {
            if let failure = source.refusal { throw failure }
            try source.service.app.refuseToken(in: source.params, for: "A live query")
            let plan = try LiveQueryPlan(
                source.params.query.joined(with: source.query), id: source.id, operators: source.operators)
            // Listens before the first fetch, so that no event is missed between the two.
            feed = LiveFeed(
                source.service.reading(),
                LiveView(plan, confirmedOnly: source.writes == .confirmedOnly, route: source.params.route))
            refusal = nil
        } catch {
            (feed, refusal) = (nil, error)
        }
    }

    /// Returns the next snapshot that differs from the previous one.
    mutating func next(isolation actor: isolated (any Actor)?) async throws -> LiveSnapshot<Record>? {
        guard !isOver else { return nil }
        isOver = true
        guard let snapshot = try await change(isolation: actor) else {
            fetch = nil
            try Task.checkCancellation()
            return nil
        }
        isOver = false
        return snapshot
    }

    private mutating func change(isolation actor: isolated (any Actor)?) async throws -> LiveSnapshot<Record>? {
        if let refusal { throw refusal }
        guard let feed else { return nil }
        if !hasBegun { await begin(feed) }
        while true {
            // Everything that has already arrived is applied in one step.
            while let signal = feed.reading.waitingSignal() { apply(signal, feed) }
            if let sender = newSender {
                // The previous user's records are taken away first.
                if shown != nil, let snapshot = try await snapshot(feed, isolation: actor) { return snapshot }
                newSender = nil
                if sender.isCurrent { await restore(feed, for: sender) }
            }
            if let failure = feed.withState({ $0.failure }) { throw failure }
            // What is kept is shown before the fetch begins, because a fast server's response would replace it.
            let isKept = shown == nil && feed.withState { $0.view.source != .server }
            let kept = isKept ? try await keptOrFetchedSnapshot(feed, isolation: actor) : nil
            startFetchIfNeeded(feed)
            if let kept { return kept }
            if !awaitsFetch(feed), let snapshot = try await keptOrFetchedSnapshot(feed, isolation: actor) {
                return snapshot
            }
            let signal = await feed.reading.signal()
            if case .ended = signal { return nil }
            apply(signal, feed)
        }
    }

    /// Whether an event has left a result that only a fetch can complete. Unless something else is to be shown, the
    /// fetch's result comes next.
    private mutating func awaitsFetch(_ feed: LiveFeed) -> Bool {
        defer { wasWoken = false }
        return !wasWoken && !isOffline && feed.withState { $0.hasShown && $0.fetch != nil && $0.view.needsFetch }
    }

    private var isOffline: Bool { source.service.app.connectionStatus.map { !$0.isConnected } ?? false }

    /// Whether an app that keeps data on this device has already failed to connect.
    private var cannotConnect: Bool {
        switch source.service.app.connectionStatus {
        case .waiting, .closed: source.service.app.showsLocalData
        case nil, .offline, .connecting, .connected: false
        }
    }

    private mutating func begin(_ feed: LiveFeed) async {
        hasBegun = true
        let app = source.service.app
        let sender = await app.resolvedSender()
        told = told ?? sender
        app.outbox?.attach(feed, at: source.service.path)
        await restore(feed, for: sender)
    }

    /// Shows the last result from disk, if there is one.
    private func restore(_ feed: LiveFeed, for sender: RequestSender) async {
        let app = source.service.app
        guard let store = app.localStore, let key = source.keptKey(for: sender.identity) else { return }
        let plan = feed.withState { $0.view.base.plan }
        await store.restore(key, into: feed, for: sender, app.diagnostics) {
            [source] in try source.keptRows(of: $0, plan)
        }
    }

    /// Applies an event, a gap, or a local change, which has already been applied.
    private mutating func apply(_ signal: EventSignal<ServiceEvent>, _ feed: LiveFeed) {
        switch signal {
        case .ended: break
        case .woken: wasWoken = true
        case .item(.event(let event)):
            let (told, position) = (told, feed.reading.takenCount)
            feed.withState { state in
                // An event that was meant for the previous user: the gap that reports the change of user has yet to
                // arrive.
                guard state.isCurrent, told == state.sender else { return }
                state.view.received(event, at: position)
            }
        case .item(.gap(let gap)):
            // The next user must not see the previous user's records, not even until their own are fetched.
            if case .identityChanged = gap.reason {
                (told, newSender) = (gap.sender, gap.sender)
                fetch = nil
                feed.withState { state in
                    state.view.missedEvents()
                    state.view.clear()
                    (state.sender, state.fetch, state.isWaitingForUser, state.isUnreachable) = (nil, nil, false, false)
                }
            } else {
                let isCurrent = feed.withState { state in
                    state.view.missedEvents()
                    state.isWaitingForUser = false
                    return state.isCurrent
                }
                // A fetch that waits for its next attempt need not wait any longer.
                if isCurrent, shown != nil, case .reconnected = gap.reason { restartFetch(feed) }
            }
        }
    }

    private mutating func restartFetch(_ feed: LiveFeed) {
        fetch = nil
        feed.withState { state in
            state.fetch = nil
            state.view.fetchEnded()
        }
    }

    private mutating func startFetchIfNeeded(_ feed: LiveFeed) {
        let needsFetch = feed.withState { $0.fetch == nil && !$0.isWaitingForUser && $0.view.needsFetch }
        guard needsFetch else { return }
        // A query that cannot be evaluated locally is fetched for every event, so it waits for more of them. Events
        // that were overtaken come in series.
        let isDebounced = feed.withState { state in
            state.hasShown && state.view.source == .server && (!state.view.base.plan.canMatch || state.view.awaitsOrder)
        }
        fetch = LiveFetch.begin(source, feed, after: isDebounced ? .milliseconds(250) : nil)
    }

    /// Returns the next snapshot. A kept result that cannot be decoded counts as absent.
    private mutating func keptOrFetchedSnapshot(
        _ feed: LiveFeed, isolation actor: isolated (any Actor)?
    ) async throws -> LiveSnapshot<Record>? {
        do {
            let snapshot = try await snapshot(feed, isolation: actor)
            if let snapshot, snapshot.source == .server, let store = source.service.app.localStore {
                let identity = feed.withState { $0.sender?.identity }
                if keptKey?.identity != identity { keptKey = nil }
                keptKey = keptKey ?? source.keptKey(for: identity)
                if let keptKey { store.changed(feed, keptKey) }
            }
            return snapshot
        } catch {
            guard feed.withState({ $0.view.isKnown && $0.view.source != .server }) else { throw error }
            source.service.app.diagnostics.log(
                .warning, .localStore,
                "The kept result of service '\(source.service.path)' cannot be decoded and is ignored",
                [.path: .string(source.service.path)], error: error)
            feed.withState { $0.view.clear() }
            return try await snapshot(feed, isolation: actor)
        }
    }

    private mutating func snapshot(_ feed: LiveFeed, isolation actor: isolated (any Actor)?) async throws
        -> LiveSnapshot<Record>?
    {
        let (isOffline, cannotConnect) = (isOffline, cannotConnect)
        // Taken in one step, so that rows, states and total belong together.
        let content: Content? = feed.withState { state in
            if isOffline { state.view.showsWithoutBase = true }
            if cannotConnect { state.isUnreachable = true }
            // After a change of user, an empty result replaces the previous user's.
            let isEmptied = state.isWaitingForUser || state.isUnreachable || state.hasShown && state.sender == nil
            guard state.isCurrent, state.view.hasContent || isEmptied || state.view.base.plan.limit == 0 else {
                return nil
            }
            return Content(state.view)
        }
        guard let content else { return nil }
        var (rows, changes) = (content.rows, content.rows.changes(since: decoded))
        let isWhole = undecodable.isEmpty
        let failed = try await decode(content, changes, isolation: actor)
        // The user may have left meanwhile.
        guard feed.withState({ $0.isCurrent }) else { return nil }
        if !undecodable.isEmpty { for index in changes.flatMap(\.old) { undecodable.remove(decoded[index].version) } }
        undecodable.formUnion(failed)
        decoded = content.rows
        // Takes time for the whole result, but only while something is left out.
        if !undecodable.isEmpty { rows.removeAll { undecodable.contains($0.version) } }
        if !isWhole || !undecodable.isEmpty { changes = rows.changes(since: shown ?? LiveRows()) }
        let difference = LiveDifference(changes, of: rows, since: shown ?? LiveRows(), aliases: content.aliases)
        let isSame =
            shown != nil && difference.isEmpty && content.source == shownSource && content.total == shownTotal.count
            && content.isTotalEstimated == shownTotal.isEstimated
        guard !isSame else { return nil }
        (shown, shownSource, shownTotal) = (rows, content.source, (content.total, content.isTotalEstimated))
        feed.withState { $0.hasShown = true }
        return LiveSnapshot(
            records: LiveList(rows) { row in
                guard let element = row.element(as: Record.self) else {
                    preconditionFailure("Every row is decoded, or it is left out")
                }
                return element
            },
            states: LiveList(rows) { $0.state }, source: content.source, total: content.total,
            isTotalEstimated: content.isTotalEstimated,
            difference: difference, identity: told?.identity)
    }

    /// What a snapshot is made of.
    private struct Content: Sendable {
        let rows: LiveRows
        let aliases: [String: String]
        let source: ResultSource
        let total: Int?
        let isTotalEstimated: Bool
        let plan: LiveQueryPlan

        init(_ view: LiveView) {
            (rows, aliases, source, total, plan) = (view.visible, view.aliases, view.source, view.total, view.base.plan)
            isTotalEstimated = total != nil && view.base.isTotalEstimated
        }
    }

    /// Decodes the rows that are new, each version once.
    /// - Returns: The versions of those to leave out.
    private func decode(
        _ content: Content, _ changes: [LiveRows.Change], isolation actor: isolated (any Actor)?
    ) async throws -> Set<Int> {
        guard !source.showsRecords || content.plan.hasSelection else { return [] }
        let rows = changes.flatMap { $0.new.map { content.rows[$0] }.filter { !$0.isDecoded } }
        // A long result is decoded on all processors, in shares of so many rows. On a virtual machine with two, 1,000
        // fetched records are shown after 3.2 ms instead of 3.5.
        let share = rows.count < 512 ? rows.count : 256
        let shares = stride(from: 0, to: rows.count, by: max(share, 1)).map { rows[$0...].prefix(share) }
        let failed = try await shares.concurrentMap { [source, undecodable] in
            try source.decode($0, content.plan, except: undecodable)
        }
        return failed.reduce(into: []) { $0.formUnion($1) }
    }
}

extension LiveFeed.State {
    /// Whether the user for whom the result was fetched is still signed in.
    var isCurrent: Bool { sender?.isCurrent ?? true }
}

extension LiveSource {
    /// Decodes rows that have not been decoded.
    /// - Returns: The versions of those to leave out.
    fileprivate func decode(_ rows: ArraySlice<LiveRow>, _ plan: LiveQueryPlan, except undecodable: Set<Int>) throws
        -> Set<Int>
    {
        var failed: Set<Int> = []
        let decode = decoder()
        for row in rows {
            if undecodable.contains(row.version) {
                failed.insert(row.version)
            } else if let element = row.isWritten
                ? decodeWritten(row, plan, decode) : try decode(plan.select(row.record))
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
    /// - Returns: Nil if the model needs properties that only the server can set.
    fileprivate func decodeWritten(_ row: LiveRow, _ plan: LiveQueryPlan, _ decode: (JSONValue) throws -> Element?)
        -> Element?
    {
        let record = plan.select(row.record)
        if let element = try? decode(record) { return element }
        // A provisional id is text. The model's id may be a number, or missing until the server has responded.
        guard case .object(var object) = record, object[id]?.string == row.key else { return nil }
        object[id] = .provisionalNumber(for: row.key)
        if let element = try? decode(.object(object)) { return element }
        object[id] = nil
        return try? decode(.object(object))
    }
}
