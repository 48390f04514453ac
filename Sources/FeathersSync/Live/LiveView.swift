import FeathersCore
import Foundation

/// What a live query shows: what the server last reported (the base), with the pending writes applied one by one. A
/// state machine without I/O.
///
/// Pending writes are kept as writes, not as images of records, so that any of them can be taken back. A write leaves
/// in the same step in which the base takes its result. If the base may be newer than the result, the write stays
/// applied, already confirmed, until an event or a fetch shows it.
struct LiveView: Sendable {
    /// A record whose row differs from the base.
    struct Shadow: Sendable {
        /// The row; nil if the record is hidden, or belongs after the known part.
        var row: LiveRow?
        /// How many records the pending writes add to the result: 1, 0 or -1.
        let added: Int
    }

    /// A fetch in flight, and what has happened since it began.
    private struct Fetch: Sendable {
        /// When it began, in the order of the fetches and results.
        let begin: Int
        /// The position of the last event that had been delivered before. The response includes these events, because a
        /// server reads its own writes.
        let position: Int
        /// Events since. They are applied to the result too.
        private(set) var log: [ServiceEvent] = []
        var hasMissedEvents = false

        /// Returns whether the response may lack an event. If a write of this app caused it, `write` is that write.
        func mayMiss(_ position: Int, _ write: LiveWrite?) -> Bool {
            position > self.position && write.map { $0.executedAt > begin } ?? true
        }

        mutating func add(_ event: ServiceEvent) {
            // A fetch that is outrun by so many events is repeated.
            if log.count < 1000 { log.append(event) } else { (log, hasMissedEvents) = ([], true) }
        }
    }

    var base: LiveWindow
    /// Where the base comes from.
    private(set) var source = ResultSource.kept(since: .distantPast)
    /// Whether the base has been fetched, or restored from disk.
    private(set) var isKnown = false
    /// Whether pending writes are shown although there is no base, because the server cannot be reached.
    var showsWithoutBase = false
    /// Whether the base holds records of executed writes although it was never fetched.
    var hasExecuted = false
    /// The keys under which rows were shown before the server assigned an id.
    var aliases: [String: String] = [:]
    /// The same, by the key before.
    var assigned: [String: String] = [:]

    let confirmedOnly: Bool
    let route: [String: String]
    var writes: [LiveWrite] = []
    var echoes = LiveEchoes()
    /// What the server last reported of records that pending writes concern and that the base lacks; null for those
    /// that are gone.
    var reported: [String: JSONValue] = [:]
    var shadows: [String: Shadow] = [:]
    /// The rows with the pending writes; nil if there are no shadows, so that the base is shown as it is.
    var rows: LiveRows?
    /// When events were last missed.
    private var missedAt = 0
    /// Counts fetches and results, to tell which came first.
    var tick = 0
    /// The fetch in flight.
    private var fetch: Fetch?
    /// The position of the last event that the base's response includes.
    private var includedEvents = 0
    /// For each record, the ``ServiceEvent/receivedAt`` of the latest own write whose event has been seen.
    private var ownEvents = RecentValues<Int>(limit: 1000)
    /// Whether the next fetch is for events that were overtaken. Others often follow soon.
    private(set) var awaitsOrder = false
    /// Whether the last fetch tried to make up for hidden records.
    var hasRefilled = false

    init(_ plan: LiveQueryPlan, confirmedOnly: Bool = false, route: [String: String] = [:]) {
        (base, self.confirmedOnly, self.route) = (LiveWindow(plan), confirmedOnly, route)
    }

    var id: String { base.plan.id }

    /// Whether the result must be fetched. Executed writes that nothing shows yet need a fetch too.
    var needsFetch: Bool {
        if base.needsFetch || base.plan.limit != 0 && writes.contains(where: { $0.results != nil }) { return true }
        guard let rows, !hasRefilled, !base.isComplete else { return false }
        return rows.count < base.limit
    }
}

// MARK: - The base

extension LiveView {
    /// Restores a result from disk. It is shown until the server responds.
    mutating func restored(_ result: KeptResult) {
        base.restored(result)
        (isKnown, source) = (true, .kept(since: result.date))
        // An earlier process may have heard of records whose creation has not been answered.
        if writes.contains(where: \.isSending) { for entry in base.entries { adopt(entry.key, entry.record) } }
        rebuild()
    }

    /// Adds the result of an executed write to a result from disk that may lack it. Without one, the records of the
    /// write are shown until the first fetch, as later events change them.
    mutating func restored(_ executed: ExecutedWrite) {
        guard let name = EventName(endOf: executed.write.method), executed.write.route == route else { return }
        var write = LiveWrite(executed.write, number: 0, id: id)
        guard let records = write.records(in: executed.result.result, id: id) else { return }
        for key in write.keys {
            guard let record = records[key], base[key]?.record != record else { continue }
            // Where the record is not known, it counts as new: without an order, nothing else would be shown of it.
            let eventName = base[key] == nil && name != .removed ? .created : name
            let event = ServiceEvent(path: executed.write.path, name: eventName, data: record)
            _ = base.received(event, isRepeated: true)
            report(key, event)
        }
        if !isKnown { hasExecuted = true }
        rebuild()
    }

    /// Records that a fetch begins.
    /// - Parameter position: The position of the last event that was delivered before.
    /// - Returns: The request, the number of records it asks for, and the time of the fetch for
    ///   ``fetched(_:asked:at:)``.
    mutating func fetchBegan(after position: Int = 0) -> (request: Query<JSONValue>, asked: Int, tick: Int) {
        tick += 1
        awaitsOrder = false
        fetch = Fetch(begin: tick, position: position)
        let hidden = hiddenCount
        let asked = base.plan.limit.map { $0 + base.plan.headroom + hidden } ?? .max
        return (base.plan.request(hiding: hidden), asked, tick)
    }

    /// Applies the server's response. Events that arrived meanwhile are applied again, because the response may not
    /// include them.
    mutating func fetched(_ page: Page<JSONValue>, asked: Int, at begin: Int) throws(FeathersError) {
        let (old, known, log) = (base, reported, fetch?.log ?? [])
        try base.fetched(page, asked: asked)
        for event in log {
            _ = base.received(event, isRepeated: true)
            guard let key = base.plan.key(of: event.data) else { continue }
            // Results may have been reported since.
            if known[key] == nil { report(key, event) }
            if base.took(event, key) { saw(event, key) }
        }
        // What events reported as part of the result has left it, if the result lacks it.
        for key in writes.flatMap(\.keys) where base[key] == nil {
            if let record = reported[key], record == .null || !base.plan.matches(record) { continue }
            reported[key] = recordTakenOut(reported[key] ?? old[key]?.record, key)
        }
        // The base could not take the events of these before.
        for write in writes where write.isSeen && !write.isRepeated {
            _ = settle(through: write.executedAt, write.keys)
        }
        let logged = Set(log.compactMap { base.plan.key(of: $0.data) })
        if fetch?.hasMissedEvents == true { base.missedEvents() }
        includedEvents = fetch?.position ?? includedEvents
        fetch = nil
        (isKnown, source) = (true, .server)
        // The response includes every write whose result arrived before the request was sent. Older events may still
        // follow.
        let ended = writesEnded(by: begin, logged)
        for write in ended { left(write, old) }
        writes.removeAll { write in ended.contains { $0.write.id == write.write.id } }
        echoes.placed(in: base)
        // Events before a gap never arrive, and those after it are newer. That of a write that was sent twice may have
        // arrived before, or been missed.
        echoes.removeAll { [base, missedAt] in
            $0.executedAt <= begin
                && ($0.isRetried || $0.executedAt <= missedAt || $0.mayBeSilent && !$0.isShown(in: base))
        }
        // It may lack those that were executed while it was on its way. The events since may be older than any.
        for write in echoes.lost(from: base, where: { $0.executedAt > begin || logged.contains($1) }) {
            restore(write)
            guard write.executedAt > begin else { continue }
            // What is shown of records that the result lacks may be newer than it.
            let shown = (write.results ?? [:]).filter { base[$0.key] == nil && old[$0.key]?.record == $0.value }
            reported.merge(shown) { known, _ in known }
        }
        // A write that is shown stays applied if an earlier one does, which would hide it. No event may bring back an
        // earlier one alone.
        var unsettled: Set<String> = []
        for var write in writes where write.results != nil {
            guard write.isShown(in: base), !write.isRepeated, unsettled.isDisjoint(with: write.keys) else {
                unsettled.formUnion(write.keys)
                continue
            }
            writes.removeAll { $0.write.id == write.write.id }
            write.isPlaced = true
            left(write, old)
        }
        for index in writes.indices where writes[index].isSending { writes[index].isTouched = true }
        if writes.contains(where: \.isSending) {
            for entry in base.entries where old[entry.key] == nil { adopt(entry.key, entry.record) }
        }
        rebuild()
        // More records may have been hidden since the request was sent.
        hasRefilled = hiddenCount <= asked - (base.plan.limit ?? 0) - base.plan.headroom
    }

    /// Returns a record that a result lacks as the first write made it that may have been executed and takes it out of
    /// the result.
    /// - Parameter known: The record as it was known. If it was not, the first result of a write tells.
    private func recordTakenOut(_ known: JSONValue?, _ key: String) -> JSONValue? {
        var record = known
        for write in writes where write.isSending && write.concerns(key) && write.isEffective(confirmedOnly: false) {
            guard record != nil || write.results != nil else { continue }
            record = write.apply(to: record, key: key, id: id)
            // Unless events have followed, the server's result counts as newer. That of a write that was sent again may
            // not be.
            if write.seen.isEmpty, write.write.method != .remove, let result = write.results?[key] { record = result }
            if let record, base.plan.canMatch, !base.plan.matches(record) { return record }
        }
        return nil
    }

    /// Records that a result includes an executed write. Of records outside of it that the last result lacked too, it
    /// tells nothing newer.
    private mutating func left(_ write: LiveWrite, _ old: LiveWindow) {
        var expected = write
        // Now it is known what a repeated write has done.
        if write.isRepeated, write.isShown(in: base) { (expected.isRepeated, expected.mayBeSilent) = (false, true) }
        echoes.expect(expected)
        guard write.write.method != .remove else { return }
        let outside = (write.results ?? [:]).filter { old[$0.key] == nil && !base.plan.matches($0.value) }
        reported.merge(outside) { known, _ in known }
    }

    /// Returns the executed writes that the response to a request includes, which was sent at a time.
    /// - Parameter logged: The records that events have changed since.
    private mutating func writesEnded(by begin: Int, _ logged: Set<String>) -> [LiveWrite] {
        var staying: Set<String> = []
        return writes.indices.compactMap { index in
            let write = writes[index]
            guard write.results != nil, write.executedAt < begin else { return nil }
            // The events may be older than a repeated write, and its own one changes nothing.
            let isHidden = write.isRepeated && !logged.isDisjoint(with: write.keys) && !write.isShown(in: base)
            guard isHidden || !staying.isDisjoint(with: write.keys), write.restorations < LiveEchoes.mostRestorations
            else { return write }
            staying.formUnion(write.keys)
            writes[index].restorations += 1
            return nil
        }
    }

    /// Lets the fetch in flight apply an own result after the events of its record, which came before and are older.
    mutating func follow(_ key: String, with result: ServiceEvent) {
        if fetch?.log.contains(where: { base.plan.key(of: $0.data) == key }) == true { fetch?.add(result) }
    }

    /// Records that a fetch failed or was given up.
    mutating func fetchEnded() { fetch = nil }

    /// Records that events were missed.
    mutating func missedEvents() {
        missedAt = tick
        invalidate()
    }

    /// Lets the result be fetched again, also after the fetch in flight.
    private mutating func invalidate() {
        base.missedEvents()
        fetch?.hasMissedEvents = true
    }

    /// Stops showing executed writes, because no fetch will follow that could show what they did.
    mutating func giveUpExecuted() {
        writes.removeAll { $0.results != nil }
        if !isKnown { base.clear() }
        (hasExecuted, echoes) = (false, LiveEchoes())
        rebuild()
    }

    /// Clears everything that belongs to a user.
    mutating func clear() {
        (aliases, assigned, reported, fetch) = ([:], [:], [:], nil)
        (isKnown, showsWithoutBase) = (false, false)
        source = .kept(since: .distantPast)
        // Pending writes are replaced by the outbox; what the server has answered to the others belongs to the user.
        giveUpExecuted()
    }

    /// Applies an event of the service.
    /// - Parameter position: Its position among all events that were delivered. A fetch may have begun after it.
    mutating func received(_ event: ServiceEvent, at position: Int = .max) {
        guard let key = base.plan.key(of: event.data) else { return }
        let isLate = isOvertaken(event, key) && position > includedEvents
        // A repeated write is answered with its first result, which the app makes an event of, and the record may have
        // changed since. What is removed stays so.
        let causes = writes.indices.filter {
            writes[$0].isRepeated && writes[$0].mayHaveCaused(event, key: key, id: id)
        }
        if !causes.isEmpty {
            invalidate()
            guard event.name == .removed || event.name == .created && base[key] == nil else {
                for index in causes where writes[index].untaken.count < 8 { writes[index].untaken.append(event.data) }
                // It may be an earlier write's event, which no other follows.
                _ = echoes.take(event, key)
                return
            }
        }
        // The app's own events can overtake each other. A creation after a change of the same record is older than what
        // is known.
        if event.name == .created, writes.contains(where: { $0.isSending && $0.overtaken[key] != nil }) {
            return invalidate()
        }
        let echo = echoes.take(event, key)
        // Without an order, records are in the order of their events, which may not be the order of the responses.
        if let echo, event.name == .created, !echo.isPlaced {
            let shown = shownRows(of: [key])
            if base.moveToEnd(key), rows != nil { refresh([key], replacing: shown) }
        }
        if isLate, fetch.map({ position > $0.position }) ?? true {
            awaitsOrder = true
            invalidate()
        }
        // The fetch includes what was executed before it began, and maybe what has happened to the record since.
        let isLeftToFetch = isLate && event.name != .removed
        if !isLeftToFetch, fetch?.mayMiss(position, echo) == true { fetch?.add(event) }
        guard echo == nil else { return }
        for index in writes.indices where writes[index].isSending {
            if writes[index].concerns(key) {
                writes[index].isTouched = true
            } else if event.name != .created {
                writes[index].overtake(key, isRemoved: event.name == .removed)
            }
        }
        if isLeftToFetch { return leftToFetch(event, key) }
        guard position > includedEvents else { return saw(event, key) }
        // The event may be older than a result that the base has taken: until another event or a fetch decides, the
        // write stays applied. A removal is never older than a change of its record.
        let restored = echoes.take(key).drop { event.name == .removed || $0.isShown(by: event.data, key: key, id: id) }
        for write in restored { restore(write) }
        let isAdopted = event.name == .created && base[key] == nil && adopt(key, event.data)
        let shown = shownRows(of: [key])
        if base.received(event) { hasRefilled = false }
        report(key, event)
        // What the base could not take, the writes still have to show.
        let isTaken = base.took(event, key)
        if isTaken { saw(event, key) }
        let last = writes.last { $0.caused(event, key: key) }
        let settled = isTaken ? last.map { settle(through: $0.executedAt, [key]) } ?? [] : []
        if !isTaken { untook(event, key, last) }
        if isAdopted { return rebuild() }
        if !shadows.isEmpty || !writes.isEmpty || !settled.isEmpty {
            refresh([key] + (restored + settled).flatMap(\.keys), replacing: shown)
        }
    }

    /// Returns whether another write of the app to the same record was answered while the one that caused an event was
    /// in flight. Only a fetch can tell which of them the server executed last.
    private mutating func isOvertaken(_ event: ServiceEvent, _ key: String) -> Bool {
        guard event.receivedAt > 0 else { return false }
        let last = ownEvents[key] ?? 0
        ownEvents.add([key: max(last, event.receivedAt)])
        return last > event.sentAt
    }
}
