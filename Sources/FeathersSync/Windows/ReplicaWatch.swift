import FeathersCore

/// A replica of the records of a store: what belongs to it, and whether the server must be asked what has changed.
struct ReplicaWatch: Sendable {
    typealias ID = Int

    let service: ServiceKey
    let judge: QueryJudge
    /// The fetch that is wanted; nil while the replica is up to date.
    private(set) var wanted: Window.Urgency? = .now
    /// Whether the server could not be asked, so that a later attempt has been scheduled.
    private var isPaused = false

    init(_ service: ServiceKey, _ judge: QueryJudge) { (self.service, self.judge) = (service, judge) }

    /// The fetch to begin.
    var due: Window.Urgency? { isPaused ? nil : wanted }

    mutating func want(_ urgency: Window.Urgency) {
        wanted = max(wanted ?? .soon, urgency)
        // What waits for its next attempt need not wait any longer.
        if urgency == .now { isPaused = false }
    }

    mutating func begin() { wanted = nil }

    /// Makes the next attempt.
    mutating func resume() { isPaused = false }

    /// Records that the server could not be asked. After a gap, it can be asked again.
    mutating func failed() { (wanted, isPaused) = (.now, wanted != .now) }
}

extension Store {
    /// Has the server asked by the replicas that a record concerns in one of these states.
    mutating func askReplicas(_ states: [JSONValue?]) {
        for id in watches.keys {
            guard let judge = watches[id]?.judge, states.contains(where: { $0.map(judge.matches) ?? false }) else {
                continue
            }
            watches[id]?.want(.soon)
        }
    }

    /// Takes a page of a replica: its records are stored with the next reports.
    /// - Returns: False if the page must be requested again.
    mutating func took(_ id: Window.ID, _ time: Int, _ page: FetchedPage, for replica: ReplicaWatch.ID)
        throws(FeathersError) -> Bool
    {
        guard try fetched(id, time, page), let window = windows[id] else { return false }
        for row in window.known { records.changed(row.key) }
        // What was reported meanwhile may be newer, or older.
        if window.wanted != nil { watches[replica]?.want(.soon) }
        return true
    }

    /// Takes a record that the server no longer shows.
    /// - Parameter before: Its state when the server was asked.
    mutating func vanished(_ key: String, since before: Record?) {
        guard records[key] === before else { return }
        take(Report(name: .removed, key: key, data: nil))
    }

    /// Applies the answer of a replica, unless the fetch is no longer the window's. Unlike the server's, it says nothing
    /// that was not known: what is known of its records is in its place.
    mutating func answered(_ id: Window.ID, _ time: Int, _ answer: ReplicaAnswer) {
        guard var window = windows[id],
            let fetch = [window.fetch, window.addition].compactMap(\.self).first(where: { $0.time == time })
        else { return }
        var reported = Set(log.reports(since: fetch.time)?.keys.map(\.self) ?? []).union(records.unstoredKeys)
        let rows = answer.rows.compactMap { row -> ResultRow? in
            guard let state = records[row.key], state !== row.state else { return row }
            if state.value == row.record { return row.inState(state) }
            reported.insert(row.key)
            return nil
        }
        let page = Page(data: answer.rows.map(\.record), total: answer.total, skip: window.judge.skip)
        window.fetched(rows, page, HookEffects(), fetch, reported)
        if window.judge.keys == nil || window.missing.isEmpty { window.source = answer.source }
        for key in reported { if let state = records[key] { window.report(state, isNew: false) } }
        _ = change(id) { $0 = window }
        for row in window.known where records[row.key] == nil { records.put(row.state) }
        noteRecords(of: queue + answered)
        prune()
    }

    /// Has the windows read again that a replica has answered while it was not up to date.
    mutating func askAgain() {
        for id in ids where windows[id].map({ $0.time > 0 && $0.source != .server }) ?? false {
            _ = change(id) { $0.want(.now) }
        }
    }
}

/// The answer of a replica to a fetch.
struct ReplicaAnswer: Sendable {
    var rows: [ResultRow]
    /// The number of records in the whole result, if all of them were judged.
    var total: Int?
    let source: ResultSource
}
