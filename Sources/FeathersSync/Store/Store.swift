import FeathersCore
import Foundation

/// The local data of one service, route and sign-in: what the server last reported of each record, the queued writes in
/// order, and the windows of live queries. A state machine without I/O, time or locks.
///
/// What is shown is a window with the writes applied that it does not include yet. A record has one state in all
/// windows. Unless the record's version tells it (see ``RecordVersions``), two rules say which state is newer:
///
/// * **Hold.** After the response to an own write, the record is as the response says, and events of it wait until the
///   write's own event arrives, or a fetch that was sent later answers.
/// * **Confirm.** What is still held after a second is fetched.
struct Store: Sendable {
    /// The last own response of a record whose event has not arrived.
    private struct Hold: Sendable {
        let result: Report
        /// The store's time at the response.
        let time: Int
    }

    /// The name of the records' id property.
    let id: String
    /// The versions of records; nil if the app has not named their property.
    var versions: RecordVersions?
    private(set) var windows: [Window.ID: Window] = [:]
    /// The writes without a response, in order.
    var queue: [LocalWrite] = []
    /// The writes with a response that some window does not include yet.
    var answered: [LocalWrite] = []
    /// What the server last reported of the records of writes. Windows have those of all other records.
    var records: [String: JSONValue] = [:]
    private var holds: [String: Hold] = [:]
    /// A counter that grows with each fetch that is sent.
    private(set) var time = 0
    private var lastWindow = 0
    /// The new records that look like those of creations in flight, by their keys.
    var lookAlikes: [String: LookAlike] = [:]
    /// The number of look-alikes found so far.
    var lookAlikeCount = 0
    /// What was reported of records and is not stored yet; nil if nothing is stored.
    var reports: RecentValues<Report>?
    /// The provisional keys under which created records were shown first, by the keys that the server assigned.
    var aliases = RecentValues<String>(limit: 10_000)

    /// - Parameters:
    ///   - id: The name of the records' id property.
    ///   - version: The name of a property that only grows; nil if there is none.
    ///   - isStored: Whether records are stored.
    init(id: String, version: String? = nil, isStored: Bool = false) {
        self.id = id
        reports = isStored ? RecentValues(limit: 10_000) : nil
        versions = version.map { RecordVersions(property: $0) }
    }

    func key(of record: JSONValue) -> String? { record[id].flatMap { ServiceID($0) }?.key }

    /// Returns what the server last reported of a record, as far as it is known.
    func known(_ key: String) -> JSONValue? {
        if let record = records[key] { return record }
        for window in windows.values where window.isShared { if let row = window[key] { return row.record } }
        return nil
    }
}

// MARK: - Windows

extension Store {
    /// The windows. Not the dictionary's keys, which would share its storage, so that each change would copy a window's
    /// records.
    var ids: [Window.ID] { Array(windows.keys) }

    mutating func open(_ window: Window) -> Window.ID {
        lastWindow += 1
        windows[lastWindow] = window
        return lastWindow
    }

    mutating func close(_ id: Window.ID) {
        windows[id] = nil
        prune()
    }

    /// Returns what a window shows.
    mutating func content(of id: Window.ID) -> Window.Content? {
        windows[id]?.content([answered, queue].lazy.joined(), records, hiding: lookAlikes)
    }

    /// Records that the writes of a record have changed, or what they are applied to.
    mutating func touch(_ key: String?) { for id in ids { windows[id]?.touch(key) } }

    mutating func touch(_ parts: [LocalWrite]) {
        for part in parts { touch(part.key) }
    }

    mutating func change<Result>(_ id: Window.ID, _ body: (inout Window) -> Result) -> Result? {
        windows.index(forKey: id).map { body(&windows.values[$0]) }
    }

    /// Fetches all windows that a record concerns in one of these states.
    mutating func ask(_ key: String, _ states: [JSONValue?], besides other: Window.ID? = nil) {
        for id in ids where id != other && windows[id]?.isConcerned(by: key, states) == true {
            windows[id]?.want(.soon)
        }
    }

    /// Fetches all windows.
    mutating func askAll(_ urgency: Window.Urgency = .now) { for id in ids { windows[id]?.want(urgency) } }

    /// Discards everything the server has reported.
    mutating func clear() {
        (answered, holds, records, lookAlikes) = ([], [:], [:], [:])
        versions = versions.map { RecordVersions(property: $0.property) }
        for id in ids { windows[id]?.clear() }
    }

    /// Forgets the writes that all windows include, and the records that no write concerns.
    mutating func prune() {
        answered.removeAll { write in !windows.values.contains { $0.replays(write) } }
        guard !records.isEmpty else { return }
        let used = Set((queue + answered).map(\.key))
        records = records.filter { used.contains($0.key) }
    }
}

// MARK: - Fetches

extension Store {
    /// Begins the fetch that a window wants.
    mutating func beginFetch(_ id: Window.ID) -> (fetch: Window.Fetch, request: Query<JSONValue>)? {
        time += 1
        return windows[id]?.beginFetch(at: time)
    }

    /// Begins a fetch of the records that are missing from a list that has grown.
    /// - Returns: Nil if none are missing.
    mutating func beginAddition(_ id: Window.ID) throws(FeathersError) -> (
        fetch: Window.Fetch, request: Query<JSONValue>
    )? {
        time += 1
        return try windows[id]?.beginAddition(at: time)
    }

    /// Applies the page that a fetch has brought, unless the fetch is no longer the window's.
    /// - Parameter hooks: What hooks did to the request and the response.
    mutating func fetched(_ id: Window.ID, _ time: Int, _ page: Page<JSONValue>, _ hooks: HookEffects = HookEffects())
        throws(FeathersError)
    {
        guard var window = windows[id],
            let fetch = [window.fetch, window.addition].compactMap(\.self).first(where: { $0.time == time })
        else { return }
        // The list has grown since: the page would take away what it shows.
        if fetch.scope == .all, let asked = fetch.asked, asked < min(window.known.count, window.limit) {
            windows[id]?.endFetch()
            windows[id]?.want(.now)
            return
        }
        var next = window
        next.setHooks(hooks)
        var sent = OrderedPage(try window.rows(of: page), fetch.log)
        order(&sent, for: next)
        let rows = sent.rows
        // Hold ends: the page was sent after the response.
        for (key, hold) in holds where hold.time < time {
            let isInScope = fetch.scope == .all && window.isConcerned(by: key, [hold.result.record])
            guard sent.found[key] != nil || isInScope else { continue }
            holds[key] = nil
            ask(key, [hold.result.record], besides: id)
        }
        if (queue + answered).contains(where: \.mayHaveCreated) {
            for row in rows where known(row.key) == nil { noteLookAlike(row.key, row.record) }
        }
        let left = Self.rows(rows, after: sent.log, for: next)
        window.fetched(left, page, hooks, fetch)
        if window.isShared {
            // Other windows show the same state. What was reported since the page was sent is already there.
            if windows.count > 1 || !records.isEmpty {
                for row in rows where sent.log[row.key] == nil { take(row, besides: id) }
            }
            settle(rows.filter { sent.log[$0.key] == nil }, sentAt: time)
            remember(left)
        }
        if window.isShared, window.isJudged {
            Self.apply(sent.log, sent.found, fetch, to: &window)
        } else if !fetch.log.isEmpty {
            // This page is the first to show that hooks change the result. Events that arrived during the fetch may
            // affect it too, so fetch again.
            window.want(.soon)
        }
        windows[id] = window
        noteRecords(of: queue + answered)
        prune()
    }

    /// Returns the rows that a page leaves in a window's known part: without what was reported since it was sent.
    private static func rows(
        _ rows: [ResultRow], after log: [String: [JSONValue?]], for window: Window
    ) -> [ResultRow] {
        guard !log.isEmpty else { return rows }
        return rows.compactMap { row in
            guard let log = log[row.key], let last = log.last else { return row }
            guard let last else { return nil }
            if !window.isShared || last == row.record { return row }
            return window.isJudged ? nil : window.row(row.key, last, at: row.place)
        }
    }

    /// Applies what was reported while a fetch was in flight to the page that it brought, and fetches again if they do
    /// not agree: the page may be older or newer.
    private static func apply(
        _ log: [String: [JSONValue?]], _ found: [String: JSONValue], _ fetch: Window.Fetch, to window: inout Window
    ) {
        for (key, reports) in log {
            // Other records are where the reports have put them.
            guard found[key] != nil || window.isMissed(key, reports, by: fetch) else { continue }
            if !reports.contains(where: { window.agrees(found[key], with: $0) }) { window.want(.soon) }
            if window[key] == nil, let last = reports.last { window.report(key, last, isNew: false) }
        }
    }

    /// Ends the doubt about writes whose records are in a page that was sent after their responses: all windows show what
    /// it says, not what was sent.
    private mutating func settle(_ rows: [ResultRow], sentAt time: Int) {
        func isDoubtful(_ write: LocalWrite) -> Bool { write.isDoubtful && write.answered.map { $0 < time } ?? false }
        let keys = Set(answered.filter(isDoubtful).map(\.key))
        for row in keys.isEmpty ? [] : rows where keys.contains(row.key) {
            for index in answered.indices where answered[index].key == row.key && isDoubtful(answered[index]) {
                (answered[index].isDoubtful, answered[index].result) = (false, row.record)
            }
            touch(row.key)
        }
    }

    /// Applies a record's state from a page to all other windows, if it is new to them.
    private mutating func take(_ row: ResultRow, besides id: Window.ID) {
        let isKnown = windows.values.contains { $0.isShared && $0[row.key]?.record == row.record }
        guard !isKnown, records[row.key] != row.record else { return }
        for other in ids where other != id { report(row.key, row.record, to: other, isNew: false) }
        if records[row.key] != nil { note(row.key, row.record) }
    }
}

// MARK: - Reports

extension Store {
    /// Applies an event of the service.
    mutating func event(_ event: ServiceEvent) {
        guard let key = key(of: event.data) else { return }
        let report = Report(event, key: key)
        let order = order(of: report)
        if order == .older {
            // A record that was created again begins with a smaller version. Otherwise, the event is late.
            if report.name == .created, newest(key)?.name == .removed { ask(key, [event.data]) }
            return
        }
        if report.name == .created, let record = report.record, known(key) == nil { noteLookAlike(key, record) }
        noteForWrites(report)
        // The event may be older or newer than the response, so a fetch decides. The same applies to an event that
        // repeats after a removal.
        let isHeld = holds[key].map { $0.result != report } ?? false
        let isRepeated = order == .equal && report.record != nil && versions?[key]?.name == .removed
        if order != .newer, isHeld || isRepeated { return ask(key, [event.data]) }
        holds[key] = nil
        self.report(key, report.record, isNew: report.name == .created)
        remember(report)
        // This event was made from the app's own response. Another response arrived in the meantime and may be newer
        // or older, so fetch.
        if order != .newer, event.receivedAt > event.sentAt + 1 { ask(key, [event.data]) }
    }

    /// Takes a state of a record for all windows.
    mutating func report(_ key: String, _ record: JSONValue?, isNew: Bool = false) {
        for id in ids { report(key, record, to: id, isNew: isNew) }
        reports?.add([key: Report(name: record == nil ? .removed : .patched, key: key, data: record)])
        if records[key] != nil || queue.contains(where: { $0.key == key }) { note(key, record) }
    }

    /// Takes what was reported and is not stored yet. A report that may be older than a stored response waits for the
    /// fetch that decides.
    mutating func takeReports() -> [Report] {
        guard let taken = reports else { return [] }
        let doubtful = Set(answered.filter { $0.isDoubtful && $0.change > 0 }.map(\.key))
        let all = taken.generations.reduce(into: [:]) { $0.merge($1) { $1 } }
        reports = RecentValues(limit: taken.limit)
        reports?.add(all.filter { doubtful.contains($0.key) })
        return all.values.filter { !doubtful.contains($0.key) }
    }

    /// Gives back what could not be stored.
    mutating func putBack(_ old: [Report]) {
        for report in old where reports?[report.key] == nil { reports?.add([report.key: report]) }
    }

    /// Keeps what the server last reported of the record of a write.
    mutating func note(_ key: String, _ record: JSONValue?) {
        records[key] = record
        touch(key)
    }

    private mutating func report(_ key: String, _ record: JSONValue?, to id: Window.ID, isNew: Bool) {
        windows[id]?.log(key, record)
        windows[id]?.report(key, record, isNew: isNew)
    }

    /// Holds a response until its own event arrives, or a fetch that is sent later answers.
    mutating func hold(_ result: Report) { holds[result.key] = Hold(result: result, time: time) }

    /// - Returns: Whether the record was held.
    mutating func endHold(_ key: String) -> Bool { holds.removeValue(forKey: key) != nil }

    /// Whether a window must be fetched soon to confirm a response.
    func awaitsConfirmation(_ id: Window.ID) -> Bool {
        guard let window = windows[id] else { return false }
        return holds.contains { window.isConcerned(by: $0.key, [$0.value.result.record]) }
    }

    /// Fetches the windows of records whose response no event has confirmed within a second.
    mutating func confirm() { for (key, hold) in holds { ask(key, [hold.result.record]) } }

    /// Records that events were missed.
    /// - Parameter endsFetches: Whether the fetches in flight are given up. Otherwise, their responses are shown until
    ///   those of the next ones arrive.
    mutating func gap(endsFetches: Bool = true) {
        holds = [:]
        if endsFetches { for id in ids { windows[id]?.endFetch() } }
        askAll()
        for index in queue.indices where queue[index].isInFlight { queue[index].isDoubtful = true }
    }
}
