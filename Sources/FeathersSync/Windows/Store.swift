import FeathersCore
import Foundation

/// The local data of one service, route and sign-in: the records, the queued writes in order, and the windows of live
/// queries. A state machine without I/O, time or locks.
///
/// What is shown is a window with the writes applied that it does not include yet. What is held (see ``Records``) and
/// not confirmed after a second is fetched.
struct Store: Sendable {
    /// The name of the records' id property.
    let id: String
    /// What the server last reported of each record.
    var records: Records
    private(set) var windows: [Window.ID: Window] = [:]
    /// The replicas of the service's records.
    var watches: [ReplicaWatch.ID: ReplicaWatch] = [:]
    /// The windows that may have changed since they were read last.
    private var news: Set<Window.ID> = []
    /// The writes without a response, in order.
    var queue: [LocalWrite] = []
    /// The writes with a response that some window does not include yet.
    var answered: [LocalWrite] = []
    /// A counter that grows with each fetch that is sent.
    private(set) var time = 0
    /// What was reported while fetches are in flight.
    private(set) var log = ReportLog()
    private var lastWindow = 0
    /// The new records that look like those of creations in flight, by their keys.
    var lookAlikes: [String: LookAlike] = [:]
    /// The number of look-alikes found so far.
    var lookAlikeCount = 0

    /// - Parameters:
    ///   - id: The name of the records' id property.
    ///   - version: The name of a property that only grows; nil if there is none.
    ///   - isStored: Whether records are stored.
    init(id: String, version: String? = nil, isStored: Bool = false) {
        self.id = id
        records = Records(version: version, isStored: isStored)
    }

    func key(of record: JSONValue) -> String? { record[id].flatMap { ServiceID($0) }?.key }

    /// Returns what the server last reported of a record to which a window or a write refers.
    func known(_ key: String) -> JSONValue? {
        guard let value = records[key]?.value, records.isWritten(key) || isInWindow(key) else { return nil }
        return value
    }

    /// Whether a window has a record.
    func isInWindow(_ key: String) -> Bool { windows.values.contains { $0.isShared && $0[key] != nil } }
}

// MARK: - Windows

extension Store {
    /// The windows. Not the dictionary's keys, which would share its storage, so that each change would copy a window's
    /// records.
    var ids: [Window.ID] { Array(windows.keys) }

    mutating func open(_ window: Window) -> Window.ID {
        lastWindow += 1
        windows[lastWindow] = window
        news.insert(lastWindow)
        return lastWindow
    }

    mutating func close(_ id: Window.ID) {
        windows[id] = nil
        news.remove(id)
        prune()
    }

    /// Returns whether a window may have changed since this was asked last.
    mutating func takeNews(of id: Window.ID) -> Bool { news.remove(id) != nil }

    /// Returns whether a window may have changed since ``takeNews(of:)``.
    func hasNews(of id: Window.ID) -> Bool { news.contains(id) }

    /// Returns what a window shows.
    mutating func content(of id: Window.ID) -> Window.Content? {
        windows[id]?.content([answered, queue].lazy.joined(), records, hiding: lookAlikes)
    }

    /// Records that the writes of a record have changed, or what they are applied to.
    mutating func touch(_ key: String?) { for id in ids { _ = change(id) { $0.touch(key) } } }

    mutating func touch(_ parts: [LocalWrite]) {
        for part in parts { touch(part.key) }
    }

    mutating func change<Result>(_ id: Window.ID, _ body: (inout Window) -> Result) -> Result? {
        guard let index = windows.index(forKey: id) else { return nil }
        news.insert(id)
        return body(&windows.values[index])
    }

    /// Fetches all windows that a record concerns in one of these states.
    mutating func ask(_ key: String, _ states: [JSONValue?], besides other: Window.ID? = nil) {
        askReplicas(states)
        for id in ids where id != other {
            guard let window = windows[id] else { continue }
            let states = window.isCount ? states + [records[key]?.value] : states
            if window.isConcerned(by: key, states) { _ = change(id) { $0.want(.soon) } }
        }
    }

    /// Fetches all windows.
    mutating func askAll(_ urgency: Window.Urgency = .now) {
        for id in ids { _ = change(id) { $0.want(urgency) } }
        for id in watches.keys { watches[id]?.want(urgency) }
    }

    /// Discards everything the server has reported.
    mutating func clear() {
        (answered, lookAlikes) = ([], [:])
        records.clear()
        for id in ids { _ = change(id) { $0.clear() } }
    }

    /// Forgets the writes that all windows include, and the records that no write concerns.
    mutating func prune() {
        answered.removeAll { write in !windows.values.contains { $0.replays(write) } }
        if records.hasWritten { records.releaseWritten(except: Set((queue + answered).map(\.key))) }
        records.forgetUnused(beside: windows.values.reduce(0) { $0 + $1.known.count }, isInWindow)
        log.trim(except: Set(windows.values.lazy.flatMap { [$0.fetch?.time, $0.addition?.time] }.compactMap(\.self)))
    }
}

// MARK: - Names

extension Store {
    /// Gives records the ids that the server has assigned, in the conditions of all queries.
    /// - Returns: Whether any query had its key.
    mutating func named(_ names: Names) -> Bool {
        var isNamed = false
        for id in ids {
            guard let judge = windows[id]?.judge.named(names) else { continue }
            isNamed = true
            _ = change(id) { window in
                window.judge = judge
                window.touch(nil)
                window.want(.now)
            }
        }
        return isNamed
    }
}

// MARK: - Fetches

extension Store {
    /// Begins the fetch that a window wants.
    mutating func beginFetch(_ id: Window.ID) -> (fetch: Window.Fetch, request: Query<JSONValue>)? {
        time += 1
        log.begin(at: time)
        return windows[id]?.beginFetch(at: time)
    }

    /// Begins a fetch of the records that are missing from a list that has grown.
    /// - Returns: Nil if none are missing.
    mutating func beginAddition(_ id: Window.ID) throws(FeathersError) -> (
        fetch: Window.Fetch, request: Query<JSONValue>
    )? {
        time += 1
        log.begin(at: time)
        return try windows[id]?.beginAddition(at: time)
    }

    /// Applies the page that a fetch has brought, unless the fetch is no longer the window's.
    /// - Parameter hooks: What hooks did to the request and the response.
    /// - Returns: False if the page was thrown away, because too much was reported since it was requested.
    @discardableResult
    mutating func fetched(_ id: Window.ID, _ time: Int, _ page: Page<JSONValue>, _ hooks: HookEffects = HookEffects())
        throws(FeathersError) -> Bool
    {
        news.insert(id)
        guard var window = windows[id],
            let fetch = [window.fetch, window.addition].compactMap(\.self).first(where: { $0.time == time })
        else { return true }
        guard let log = log.reports(since: time) else {
            if fetch.scope == .rest { windows[id]?.addition = nil } else { windows[id]?.endFetch() }
            windows[id]?.want(.soon)
            return false
        }
        // The list has grown since: the page would take away what it shows.
        if fetch.scope == .all, let asked = fetch.asked, asked < min(window.known.count, window.limit) {
            windows[id]?.endFetch()
            windows[id]?.want(.now)
            return true
        }
        var next = window
        next.setHooks(hooks)
        var sent = OrderedPage(try rows(of: page, for: window, next), log)
        order(&sent, for: next)
        let rows = sent.rows
        // Hold ends: the page was sent after the response.
        for (key, hold) in records.holds where hold.time < time {
            let isInScope = fetch.scope == .all && window.isConcerned(by: key, [hold.result.record])
            guard sent.found[key] != nil || isInScope else { continue }
            records.endHold(key)
            ask(key, [hold.result.record], besides: id)
        }
        if (queue + answered).contains(where: \.mayHaveCreated) {
            for row in rows where known(row.key) == nil { noteLookAlike(row.key, row.record) }
        }
        let left = self.rows(rows, after: sent.log, for: next)
        window.fetched(left, page, hooks, fetch, Set(log.keys))
        if window.isShared {
            // A record that has moved behind the known part is in it already.
            if fetch.scope == .rest {
                for row in left where window[row.key].map({ $0.state !== row.state }) ?? false {
                    window.report(row.state, isNew: false)
                }
            }
            // Other windows show the same state. What was reported since the page was sent is already there.
            for row in rows where sent.log[row.key] == nil { take(row.state, besides: id) }
            settle(rows.filter { sent.log[$0.key] == nil }, requestedAt: time)
        }
        if window.isShared, window.isJudged, !window.isCount {
            apply(sent.log, sent.found, fetch, to: &window)
        } else if !log.isEmpty, !window.isCount || !window.isJudged {
            // This page is the first to show that hooks change the result. Events that arrived during the fetch may
            // affect it too, so fetch again.
            window.want(.soon)
        }
        // What was reported meanwhile was of no list before.
        if window.isShared { for key in sent.log.keys { if let row = window[key] { records.put(row.state) } } }
        windows[id] = window
        noteRecords(of: queue + answered)
        prune()
        return true
    }

    /// Returns the rows of a page. Those of records have the states that are known, if nothing has changed.
    private mutating func rows(of page: Page<JSONValue>, for window: Window, _ next: Window) throws(FeathersError)
        -> [ResultRow]
    {
        let isShared = next.isShared
        return try window.rows(of: page) { key, record in
            isShared ? records.state(Report(name: .patched, key: key, data: record)) : Record(key, record)
        }
    }

    /// Returns the rows that a page leaves in a window's known part: without what was reported since it was sent.
    private mutating func rows(
        _ rows: [ResultRow], after log: [String: [JSONValue?]], for window: Window
    ) -> [ResultRow] {
        guard !log.isEmpty else { return rows }
        return rows.compactMap { row in
            guard let log = log[row.key], let last = log.last else { return row }
            guard let last else { return nil }
            if !window.isShared || last == row.record { return row }
            if window.isJudged { return nil }
            return window.row(records.state(Report(name: .patched, key: row.key, data: last)), at: row.place)
        }
    }

    /// Applies what was reported while a fetch was in flight to the page that it brought, and fetches again if they do
    /// not agree: the page may be older or newer.
    private mutating func apply(
        _ log: [String: [JSONValue?]], _ found: [String: JSONValue], _ fetch: Window.Fetch, to window: inout Window
    ) {
        for (key, reports) in log {
            // Other records are where the reports have put them.
            guard found[key] != nil || window.isMissed(key, reports, by: fetch) else { continue }
            if !reports.contains(where: { window.agrees(found[key], with: $0) }) { window.want(.soon) }
            if window[key] == nil, let last = reports.last { window.report(state(key, last), isNew: false) }
        }
    }

    /// Ends the doubt about writes whose records are in a page that was sent after their responses: all windows show what
    /// it says, not what was sent.
    private mutating func settle(_ rows: [ResultRow], requestedAt time: Int) {
        func isDoubtful(_ write: LocalWrite) -> Bool { write.isDoubtful && write.answered.map { $0 < time } ?? false }
        let keys = Set(answered.filter(isDoubtful).map(\.key))
        for row in keys.isEmpty ? [] : rows where keys.contains(row.key) {
            for index in answered.indices where answered[index].key == row.key && isDoubtful(answered[index]) {
                (answered[index].isDoubtful, answered[index].result) = (false, row.record)
            }
            touch(row.key)
        }
    }

    /// Takes a record's state from a page, also for all other windows.
    private mutating func take(_ state: Record, besides id: Window.ID) {
        if records[state.key] !== state {
            recount(state)
            records.put(state)
        } else if records.isWritten(state.key) || isInWindow(state.key) {
            return
        }
        if windows.count > 1 { report(state, isNew: false, besides: id) }
        if records.isWritten(state.key) { touch(state.key) }
    }
}

// MARK: - Reports

extension Store {
    /// Applies an event of the service.
    mutating func event(_ event: ServiceEvent) {
        guard let key = key(of: event.data) else { return }
        let report = Report(event, key: key)
        let order = records.order(of: report)
        let outcome = records.outcome(of: report, order)
        if outcome == .older {
            // A record that was created again begins with a smaller version. Otherwise, the event is late.
            if report.name == .created, records[key]?.isRemoved == true { ask(key, [event.data]) }
            return
        }
        if report.name == .created, let record = report.record, known(key) == nil { noteLookAlike(key, record) }
        noteForWrites(report)
        if outcome == .held { return ask(key, [event.data]) }
        if records.holds[key]?.result != report { recount(report) }
        records.endHold(key)
        take(report, isNew: report.name == .created)
        // The transport delivers no events. Another response may be newer than the app's own, or older, so fetch.
        if order != .newer, event.isOwn { ask(key, [event.data]) }
    }

    /// Takes a state of a record for all windows.
    mutating func take(_ report: Report, isNew: Bool = false) {
        let state = records.state(report)
        self.report(state, isNew: isNew)
        let isWritten = records.isWritten(state.key) || queue.contains { $0.key == state.key }
        if isWritten {
            if state.isRemoved { records.releaseWritten(state.key) } else { records.keepWritten(state.key) }
            touch(state.key)
        }
        if records.keepsUnused || isWritten || records[state.key] != nil || isInWindow(state.key) || hasCounts {
            records.put(state)
            records.changed(state.key)
        }
    }

    /// Takes what was reported and is not stored yet. A report that may be older than a stored response waits for the
    /// fetch that decides.
    mutating func takeUnstored() -> [Report] {
        records.hasUnstored
            ? records.takeUnstored(except: Set(answered.filter { $0.isDoubtful && $0.change > 0 }.map(\.key))) : []
    }

    /// Reports a state to all windows, or all but one.
    mutating func report(_ state: Record, isNew: Bool, besides other: Window.ID? = nil) {
        log.append(state.key, state.value)
        report(state, isNew: isNew, to: ids.filter { $0 != other })
    }

    /// Reports a state to some windows.
    mutating func report(_ state: Record, isNew: Bool, to ids: [Window.ID]) {
        for id in ids {
            guard windows[id]?.isCount == false, windows[id]?.ignores(state, isNew: isNew) == false else { continue }
            _ = change(id) { $0.report(state, isNew: isNew) }
        }
    }

    /// Returns a state that the server has reported of a record.
    mutating func state(_ key: String, _ record: JSONValue?) -> Record {
        records.state(Report(name: record == nil ? .removed : .patched, key: key, data: record))
    }

    /// Whether a window must be fetched soon to confirm a response.
    func awaitsConfirmation(_ id: Window.ID) -> Bool {
        guard let window = windows[id] else { return false }
        return records.holds.contains { window.isConcerned(by: $0.key, [$0.value.result.record]) }
    }

    /// Fetches the windows of records whose response no event has confirmed within a second.
    mutating func confirm() { for (key, hold) in records.holds { ask(key, [hold.result.record]) } }

    /// Records that events were missed.
    /// - Parameter endsFetches: Whether the fetches in flight are given up. Otherwise, their responses are shown until
    ///   those of the next ones arrive.
    mutating func gap(endsFetches: Bool = true) {
        records.endHolds()
        if endsFetches { for id in ids { _ = change(id) { $0.endFetch() } } }
        askAll()
        for index in queue.indices where queue[index].isInFlight { queue[index].isDoubtful = true }
    }
}
