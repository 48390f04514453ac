import FeathersCore
import Foundation

/// Reads a live query: applies events, gaps and local changes one step at a time in its reader's task, and has the result fetched when necessary.
struct LiveReader<Record: Sendable>: AsyncIteratorProtocol {
    private let source: LiveSource<Record>
    /// Nil if the query is not valid.
    private let feed: LiveFeed?
    private let refusal: (any Error)?
    private var shown = LiveElements<Record>()
    private var shownStates: [Int: RecordState] = [:]
    private var shownSource: ResultSource?
    private var shownTotal: (count: Int?, isEstimated: Bool) = (nil, false)
    /// The elements of records with pending writes, or of all records if the params say to skip records that cannot be decoded. Nil if a record cannot
    /// be decoded.
    private var decoded: [Int: Record?] = [:]
    /// The sender whose events are being read. A result may be fetched for the next user while the previous user's events are still buffered.
    private var told: RequestSender?
    /// The user who has just signed in, whose kept result is to be shown.
    private var newSender: RequestSender?
    private var fetch: LiveFetch?
    /// Whether local data or the fetch has changed since the last snapshot.
    private var wasWoken = false
    private var hasBegun = false
    private var isOver = false

    init(_ source: LiveSource<Record>) {
        self.source = source
        do {
            if let failure = source.refusal { throw failure }
            let plan = try LiveQueryPlan(source.params.query.joined(with: source.query), id: source.id, operators: source.operators)
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
                if shown.versions != nil, let snapshot = try snapshot(feed) { return snapshot }
                newSender = nil
                if sender.isCurrent { await restore(feed, for: sender) }
            }
            if let failure = feed.withState({ $0.failure }) { throw failure }
            startFetchIfNeeded(feed)
            if !awaitsFetch(feed), let snapshot = try keptOrFetchedSnapshot(feed) { return snapshot }
            guard let signal = await feed.reading.signal() else { return nil }
            apply(signal, feed)
        }
    }

    /// Whether an event has left a result that only a fetch can complete. Unless something else is to be shown, the fetch's result comes next.
    private mutating func awaitsFetch(_ feed: LiveFeed) -> Bool {
        defer { wasWoken = false }
        return !wasWoken && !isOffline && feed.withState { $0.hasShown && $0.fetch != nil && $0.view.needsFetch }
    }

    private var isOffline: Bool { source.service.app.connectionStatus.map { !$0.isConnected } ?? false }

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
        guard let store = source.service.app.localStore else { return }
        await store.restore(source.keptKey(for: sender.identity), into: feed, for: sender, source.service.app.diagnostics)
        // The last results of writes may have been stored just before the process ended, and the query's result not.
        guard let outbox = source.service.app.outbox else { return }
        let executed = outbox.withState { $0.executed }
        feed.withState { state in
            guard case .kept(let date) = state.view.source else { return }
            for write in executed.missing(at: source.service.path, sender.identity, since: date) { state.view.restored(write) }
        }
    }

    /// Applies an event, a gap, or a local change, which has already been applied.
    private mutating func apply(_ signal: ServiceSignal, _ feed: LiveFeed) {
        switch signal {
        case .woken: wasWoken = true
        case .event(let event):
            let told = told
            feed.withState { state in
                // An event that was meant for the previous user: the gap that reports the change of user has yet to arrive.
                guard state.isCurrent, told == state.sender else { return }
                state.view.received(event)
            }
        case .gap(let gap):
            // The next user must not see the previous user's records, not even until their own are fetched.
            if case .identityChanged = gap.reason {
                (told, newSender) = (gap.sender, gap.sender)
                fetch = nil
                feed.withState { state in
                    state.view.missedEvents()
                    state.view.clear()
                    (state.sender, state.fetch, state.isWaitingForUser) = (nil, nil, false)
                }
            } else {
                let isCurrent = feed.withState { state in
                    state.view.missedEvents()
                    state.isWaitingForUser = false
                    return state.isCurrent
                }
                // A fetch that waits for its next attempt need not wait any longer.
                if isCurrent, shown.versions != nil, case .reconnected = gap.reason { restartFetch(feed) }
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
        // A query that cannot be evaluated locally is fetched for every event, so it waits for more of them.
        let isDebounced = feed.withState { $0.hasShown && $0.view.source == .server && !$0.view.base.plan.canMatch }
        fetch = LiveFetch.begin(source, feed, after: isDebounced ? .milliseconds(250) : nil)
    }

    /// Returns the next snapshot. A kept result that cannot be decoded counts as absent.
    private mutating func keptOrFetchedSnapshot(_ feed: LiveFeed) throws -> LiveSnapshot<Record>? {
        do {
            let snapshot = try snapshot(feed)
            if let snapshot, snapshot.source == .server, let store = source.service.app.localStore {
                store.changed(feed, source.keptKey(for: feed.withState { $0.sender?.identity }))
            }
            return snapshot
        } catch {
            guard feed.withState({ $0.view.isKnown && $0.view.source != .server }) else { throw error }
            source.service.app.diagnostics.log(
                .warning, .localStore, "The kept result of service '\(source.service.path)' cannot be decoded and is ignored",
                [.path: .string(source.service.path)], error: error)
            feed.withState { $0.view.clear() }
            return try snapshot(feed)
        }
    }

    private mutating func snapshot(_ feed: LiveFeed) throws -> LiveSnapshot<Record>? {
        let source = source
        let isOffline = isOffline
        // Taken in one step, so that rows, states and total belong together.
        let content: Content? = feed.withState { state in
            if isOffline { state.view.showsWithoutBase = true }
            // After a change of user, an empty result replaces the previous user's.
            let isEmptied = state.isWaitingForUser || state.hasShown && state.sender == nil
            guard state.isCurrent, state.view.hasContent || isEmptied || state.view.base.plan.limit == 0 else { return nil }
            return Content(state.view)
        }
        guard let content else { return nil }
        let entries = try entries(of: content, source)
        let made = decoded
        let difference = try shown.show(entries, aliases: content.aliases) { entry in
            if let element = made[entry.version] ?? nil { return element }
            guard let element = try source.decode(content.plan.select(entry.record)) else {
                throw FeathersError(.generalError, "A record of service '\(source.service.path)' cannot be decoded")
            }
            return element
        }
        let isSame =
            difference == nil && content.states == shownStates && content.source == shownSource
            && content.total == shownTotal.count && content.isTotalEstimated == shownTotal.isEstimated
        guard !isSame, let versions = shown.versions else { return nil }
        (shownStates, shownSource, shownTotal) = (content.states, content.source, (content.total, content.isTotalEstimated))
        feed.withState { $0.hasShown = true }
        return LiveSnapshot(
            records: shown.elements, source: content.source, total: content.total, isTotalEstimated: content.isTotalEstimated,
            versions: versions, knownStates: content.states, difference: difference ?? LiveDifference())
    }

    /// What a snapshot is made of.
    private struct Content: Sendable {
        let rows: ArraySlice<LiveWindow.Entry>
        let states: [Int: RecordState]
        let aliases: [String: String]
        let source: ResultSource
        let total: Int?
        let isTotalEstimated: Bool
        let plan: LiveQueryPlan
        /// The versions of the rows that pending writes have made.
        let written: [LiveWindow.Entry]

        init(_ view: LiveView) {
            (rows, states, aliases, source, total) = (view.visible, view.states, view.aliases, view.source, view.total)
            (plan, written) = (view.base.plan, view.written)
            isTotalEstimated = view.total != nil && view.base.isTotalEstimated
        }
    }

    /// Returns the entries to show. Leaves out records with pending writes that cannot be decoded yet, and others if the params say so.
    private mutating func entries(of content: Content, _ source: LiveSource<Record>) throws -> ArraySlice<LiveWindow.Entry> {
        guard source.params.skipsUndecodableRecords || !content.written.isEmpty else {
            decoded = [:]
            return content.rows
        }
        var known: [Int: Record?] = [:]
        // Decodes each version only once, so that no failure is reported twice.
        for entry in content.written {
            known[entry.version] = decoded[entry.version] ?? source.decodeWritten(entry, content.plan)
        }
        if source.params.skipsUndecodableRecords {
            for entry in content.rows where known[entry.version] == nil {
                known[entry.version] = try decoded[entry.version] ?? source.decode(content.plan.select(entry.record))
            }
        }
        decoded = known
        guard known.contains(where: { $0.value == nil }) else { return content.rows }
        return content.rows.filter { if case .some(.none) = known[$0.version] { false } else { true } }[...]
    }
}

extension LiveFeed.State {
    /// Whether the user for whom the result was fetched is still signed in.
    var isCurrent: Bool { sender?.isCurrent ?? true }
}

extension LiveSource {
    /// Decodes a record with pending writes.
    /// - Returns: Nil if the model needs properties that only the server can set.
    fileprivate func decodeWritten(_ entry: LiveWindow.Entry, _ plan: LiveQueryPlan) -> Element? {
        let record = plan.select(entry.record)
        if let element = try? decode(record) { return element }
        // A provisional id is text. The model's id may be a number, or missing until the server has responded.
        guard case .object(var object) = record, object[id]?.string == entry.key else { return nil }
        object[id] = .provisionalNumber(for: entry.key)
        if let element = try? decode(.object(object)) { return element }
        object[id] = nil
        return try? decode(.object(object))
    }
}
