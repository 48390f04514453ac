import FeathersCore
import Foundation

/// A change of a queued write.
enum OutboxChange: Sendable {
    case queued(OutboxWrite, number: Int)
    /// The write has other data, a failure or none.
    case changed(OutboxWrite, OutboxFailure?)
    /// An attempt begins. It is repeated if the server may have executed an earlier one.
    case sending(OutboxWrite.ID, isRepeated: Bool)
    case executed(UUID, ServerResult)
    case discarded(UUID)
}

/// The queued writes of a store. Each is shown immediately, and is removed when the server's response is applied.
extension Store {
    /// Replaces the queued writes with those of an outbox.
    mutating func replaceQueue(_ items: [OutboxQueue.Item]) {
        queue = items.flatMap { item in
            LocalWrite.parts(of: item.write, number: item.number, id: id).map { part in
                var part = part
                part.failure = item.failure
                part.isInFlight = item.failure == nil && (item.stage.isSending || item.mayHaveExecuted)
                // Its event may have come before this store listened.
                part.isDoubtful = item.stage.isSending || item.mayHaveExecuted
                return part
            }
        }
        noteRecords(of: queue)
        touch(nil)
    }

    mutating func apply(_ change: OutboxChange) {
        switch change {
        case .queued(let write, let number):
            let parts = LocalWrite.parts(of: write, number: number, id: id)
            noteRecords(of: parts)
            queue += parts
            touch(parts)
        case .changed(let write, let failure): changed(write, failure)
        case .sending(let id, let isRepeated):
            for index in queue.indices where queue[index].id == id {
                (queue[index].isInFlight, queue[index].seen) = (true, [])
                touch([queue[index]])
                if isRepeated { queue[index].isDoubtful = true }
            }
        case .executed(let id, let result): respond(to: id, result.value)
        case .discarded(let id):
            // The write may have been executed, and possibly no event reports that, so fetch.
            if queue.contains(where: { $0.id == id && $0.isDoubtful }) { askAll() }
            touch(queue.filter { $0.id == id })
            queue.removeAll { $0.id == id }
            prune()
        }
    }

    /// Keeps what is known of the records of queued writes.
    mutating func noteRecords(of writes: [LocalWrite]) {
        for write in writes where records[write.key] == nil {
            if let known = known(write.key) { note(write.key, known) }
        }
    }

    private mutating func changed(_ write: OutboxWrite, _ failure: OutboxFailure?) {
        guard let first = queue.firstIndex(where: { $0.id == write.id }) else { return }
        let old = queue.filter { $0.id == write.id }
        let wasUnknown = old[0].failure?.reason == .unknown
        // The server may have executed the previous attempt, whose effect differs from the next one's.
        if wasUnknown, failure == nil { askAll(.soon) }
        // The record has changed since the write was made.
        if let failure, failure.reason != .unknown, old[0].failure == nil { for part in old { ask(part.key, []) } }
        var parts = LocalWrite.parts(of: write, number: old[0].number, id: id)
        for index in parts.indices {
            parts[index].failure = failure
            guard let part = old.first(where: { $0.index == parts[index].index }) else { continue }
            if part.write.method == .create, part.isProvisional { parts[index].key = part.key }
            (parts[index].isInFlight, parts[index].seen) = (part.isInFlight && failure == nil, part.seen)
            parts[index].lookAlike = part.lookAlike
            parts[index].isDoubtful = part.isDoubtful || failure?.mayHaveExecuted == true
        }
        queue.removeAll { $0.id == write.id }
        queue.insert(contentsOf: parts, at: first)
        touch(old + parts)
        noteRecords(of: parts)
        prune()
    }

    /// Applies the response to a write.
    /// - Parameter response: The response; nil if it was sent to another user. A fetch then shows what the write did.
    mutating func respond(to id: UUID, _ response: JSONValue?) {
        let parts = queue.filter { $0.id == id }
        queue.removeAll { $0.id == id }
        touch(parts)
        for part in parts { respond(to: part, response.flatMap { part.report(in: $0, id: self.id) }) }
        prune()
    }

    private mutating func respond(to part: LocalWrite, _ report: Report?) {
        var write = part
        (write.answered, write.lookAlike, write.failure) = (time, nil, nil)
        if let report, report.key != write.key {
            rename(write.key, to: report.key)
            write.name(report, id: id)
        }
        guard let report, !write.isDoubtful else {
            if report == nil, let key = part.lookAlike {
                give(part, its: key)
                return askAll(.soon)
            }
            // Each window shows the write as it was sent, until it has a page that was sent later.
            write.isDoubtful = true
            answered.append(write)
            touch(write.key)
            return askAll(.soon)
        }
        let order = order(of: report)
        write.result = order == .older ? newest(report.key)?.record : report.record
        // A newer state, which includes this write, is already known.
        if order == .older, write.result == nil { return }
        answered.append(write)
        touch(write.key)
        for index in answered.indices where answered[index].key == report.key { answered[index].isDoubtful = false }
        for id in ids { _ = change(id) { if $0.replays(write) { $0.want(.soon) } } }
        if order == .older { return }
        let wasHeld = endHold(report.key)
        if order == .newer {
            take(report)
            return hold(report)
        }
        let seen = write.seen.filter { $0.key == report.key }
        if let last = seen.last, seen.contains(report) {
            // Its event came first. Other events may follow only because equal records look the same.
            if wasHeld { self.report(report.key, last.record) }
            if last != report { ask(report.key, [report.record, last.record]) }
            return
        }
        if let last = seen.last { ask(report.key, [report.record, last.record]) }
        if report.name == .created, known(report.key) != nil {
            // A fetch has shown it already, and maybe what has become of it since.
            ask(report.key, [report.record])
        } else {
            take(report)
            hold(report)
        }
    }

    private mutating func take(_ report: Report) {
        self.report(report.key, report.record)
        remember(report)
    }

    /// Gives a created record the key that the server has assigned, in all writes to it.
    private mutating func rename(_ old: String, to key: String) {
        aliases.add([key: aliases[old] ?? old])
        for index in queue.indices where queue[index].key == old {
            (queue[index].key, queue[index].isProvisional) = (key, false)
        }
        note(key, records.removeValue(forKey: old) ?? known(key))
        touch(old)
    }

    /// Notes an event that may come from a write in flight.
    mutating func noteForWrites(_ report: Report) {
        for index in queue.indices where queue[index].isInFlight {
            let isCreation = queue[index].write.method == .create && report.name == .created
            guard queue[index].key == report.key || isCreation else { continue }
            if queue[index].seen.count < 1000 {
                queue[index].seen.append(report)
            } else {
                queue[index].isDoubtful = true
            }
        }
    }

    /// Notes a new record that looks like one that a write in flight creates. It has no row of its own until the
    /// response. If there was one without a record, the row of the write becomes that of the record.
    mutating func noteLookAlike(_ key: String, _ record: JSONValue) {
        guard !queue.contains(where: { $0.lookAlike == key || $0.key == key }) else { return }
        if let index = answered.firstIndex(where: { $0.hasProvisionalKey && $0.looksLike(record, id: id) }) {
            return give(answered.remove(at: index), its: key)
        }
        guard let index = queue.firstIndex(where: { $0.looksLike(record, id: id) }) else { return }
        queue[index].lookAlike = key
        touch([queue[index]])
    }

    /// Lets a record take the place of the write that has created it.
    private mutating func give(_ write: LocalWrite, its key: String) {
        aliases.add([key: aliases[write.key] ?? write.key])
        touch(write.key)
        touch(key)
    }

    /// The writes that a window may not include.
    var unsettled: Set<UUID> { Set((queue + answered).map(\.id)) }

    /// Shows a result from disk until the server responds.
    mutating func restored(_ result: KeptResult, in window: Window.ID) {
        _ = change(window) { $0.restored(result) }
        if let versions { remember(result.rows.filter { versions[$0.key] == nil }) }
        noteRecords(of: queue)
        // An earlier process may have heard of records whose creation has not been answered.
        guard queue.contains(where: \.isInFlight) else { return }
        for row in result.rows { noteLookAlike(row.key, row.record) }
    }

    /// Adds an executed write of an earlier process that a result from disk may lack.
    mutating func restored(_ executed: ExecutedWrite, in window: Window.ID) {
        // Its response is on its way to this store.
        guard !queue.contains(where: { $0.id == executed.write.id }) else { return }
        for part in LocalWrite.parts(of: executed.write, number: 0, id: id) {
            guard let report = part.report(in: executed.result.result, id: id), order(of: report) != .older else {
                continue
            }
            var write = part
            // Every page that is fetched includes it.
            (write.key, write.answered, write.result) = (report.key, 0, report.record)
            remember(report)
            if !answered.contains(where: { $0.id == write.id && $0.index == write.index }) { answered.append(write) }
            touch(write.key)
            _ = change(window) { window in
                guard window.isKnown, window.isStored(report) else { return }
                window.report(report.key, report.record, isNew: window[report.key] == nil)
            }
        }
    }

    // MARK: - Provisional ids

    /// Returns the provisional id of a record that a queued write probably creates.
    func provisionalKey(of key: String) -> String? { queue.first { $0.lookAlike == key }?.key }

    /// Returns the server's ids of the records that a write has probably created, by the provisional ones.
    func lookAlikes(of id: UUID) -> [String: ServiceID] {
        queue.reduce(into: [:]) { found, part in
            guard part.id == id, let key = part.lookAlike else { return }
            found[part.key] = known(key)?[self.id].flatMap { ServiceID($0) }
        }
    }
}
