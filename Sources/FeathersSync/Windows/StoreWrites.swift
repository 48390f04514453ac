import FeathersCore
import Foundation

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
        lookAlikes = [:]
        noteRecords(of: queue)
        touch(nil)
    }

    /// Shows a queued write as it is now, with its failure.
    mutating func show(_ item: OutboxQueue.Item) {
        if queue.contains(where: { $0.id == item.write.id }) { return changed(item.write, item.failure) }
        let parts = LocalWrite.parts(of: item.write, number: item.number, id: id)
        noteRecords(of: parts)
        queue += parts
        touch(parts)
    }

    /// Begins an attempt at a write. It is repeated if the server may have executed an earlier one.
    mutating func begun(_ id: UUID, isRepeated: Bool) {
        for index in queue.indices where queue[index].id == id {
            (queue[index].isInFlight, queue[index].seen) = (true, [])
            touch([queue[index]])
            if isRepeated { queue[index].isDoubtful = true }
        }
    }

    /// Removes a discarded write.
    /// - Parameter record: The record that it has created, if the app has named it.
    mutating func discarded(_ id: UUID, as record: ServiceID? = nil) {
        if let record, let part = queue.first(where: { $0.id == id }) { rename(part.key, to: record.key) }
        // The write may have been executed, and possibly no event reports that, so fetch.
        if queue.contains(where: { $0.id == id && $0.isDoubtful }) { askAll() }
        let parts = queue.filter { $0.id == id }
        touch(parts)
        endLookAlikes(of: parts)
        queue.removeAll { $0.id == id }
        prune()
    }

    /// Keeps what is known of the records of queued writes.
    mutating func noteRecords(of writes: [LocalWrite]) {
        for write in writes where !records.isWritten(write.key) && isInWindow(write.key) {
            records.keepWritten(write.key)
            touch(write.key)
        }
    }

    /// Keeps what is stored of the record of a queued write.
    mutating func keep(_ state: Record) {
        if records[state.key] == nil { records.put(state) }
        records.keepWritten(state.key)
        touch(state.key)
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
            for key in part.candidates { parts[index].addCandidate(key) }
            parts[index].isDoubtful = part.isDoubtful || failure?.mayHaveExecuted == true
        }
        queue.removeAll { $0.id == write.id }
        queue.insert(contentsOf: parts, at: first)
        touch(old + parts)
        if failure != nil { endLookAlikes(of: old) }
        noteRecords(of: parts)
        prune()
    }

    /// Applies the response to a write.
    /// - Parameter result: The result; nil if it was sent to another user. A fetch then shows what the write did.
    mutating func respond(to id: UUID, _ result: ServerResult?) {
        let parts = queue.filter { $0.id == id }
        queue.removeAll { $0.id == id }
        touch(parts)
        for var part in parts {
            part.change = result?.change ?? 0
            let report = result.flatMap { part.report(in: $0.value, id: self.id) }
            respond(to: part, report)
            // What is known may be newer than the response, which is stored.
            if let report, !part.isDoubtful, known(report.key) != nil { records.changed(report.key) }
        }
        endLookAlikes(of: parts)
        prune()
    }

    private mutating func respond(to part: LocalWrite, _ report: Report?) {
        var write = part
        (write.answered, write.failure) = (time, nil)
        if let report, report.key != write.key {
            rename(write.key, to: report.key)
            write.name(report, id: id)
        }
        guard let report, !write.isDoubtful else {
            // The record that looks like it is shown instead until a fetch.
            if report == nil, lookAlikes.values.contains(where: { $0.creation == part.key }) { return askAll(.soon) }
            // Each window shows the write as it was sent, until it has a page that was sent later.
            write.isDoubtful = true
            answered.append(write)
            touch(write.key)
            return askAll(.soon)
        }
        let order = records.order(of: report)
        write.result = order == .older ? records[report.key]?.value : report.record
        // A newer state, which includes this write, is already known.
        if order == .older, write.result == nil { return }
        answered.append(write)
        touch(write.key)
        for index in answered.indices where answered[index].key == report.key { answered[index].isDoubtful = false }
        for id in ids { _ = change(id) { if $0.replays(write) { $0.want(.soon) } } }
        if order == .older { return }
        let wasHeld = records.endHold(report.key)
        if order == .newer {
            recount(report)
            take(report)
            return records.hold(report, at: time)
        }
        let seen = write.seen.filter { $0.key == report.key }
        if let last = seen.last, seen.contains(report) {
            // Its event came first. Other events may follow only because equal records look the same.
            if wasHeld { take(last) }
            if last != report { ask(report.key, [report.record, last.record]) }
            return
        }
        if let last = seen.last { ask(report.key, [report.record, last.record]) }
        if report.name == .created, known(report.key) != nil {
            // A fetch has shown it already, and maybe what has become of it since.
            ask(report.key, [report.record])
        } else {
            recount(report)
            take(report)
            records.hold(report, at: time)
        }
    }

    /// Gives a created record the key that the server has assigned, in all writes to it.
    private mutating func rename(_ old: String, to key: String) {
        for index in queue.indices where queue[index].key == old {
            (queue[index].key, queue[index].isProvisional) = (key, false)
        }
        let isKnown = known(key) != nil
        records.rename(old, to: key)
        if isKnown { records.keepWritten(key) }
        touch(key)
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

    /// Notes a record that was not known before and looks like one that a write creates. While the write is in flight,
    /// the record has no row of its own until the response, or until ``endLookAlikes(through:)``. If there was a
    /// response without a record, the record's row replaces that of the write.
    /// - Parameter isStored: Whether it comes from disk, so that it may have been known before the write was sent.
    mutating func noteLookAlike(_ key: String, _ record: JSONValue, isStored: Bool = false) {
        guard !queue.contains(where: { $0.key == key }) else { return }
        if let index = answered.firstIndex(where: { $0.hasProvisionalKey && $0.looksLike(record, id: id) }) {
            return touch([answered.remove(at: index)])
        }
        for index in queue.indices where queue[index].looksLike(record, id: id) {
            queue[index].addCandidate(key)
            let creation = queue[index].key
            guard !isStored, queue[index].isInFlight, lookAlikes[key] == nil,
                !lookAlikes.values.contains(where: { $0.creation == creation })
            else { continue }
            lookAlikeCount += 1
            lookAlikes[key] = LookAlike(creation: creation, number: lookAlikeCount)
            touch(key)
        }
    }

    /// The number of the look-alike that was found last; nil without one.
    var newestLookAlike: Int? { lookAlikes.values.map(\.number).max() }

    /// Shows the look-alikes that were found first, up to a number.
    mutating func endLookAlikes(through number: Int) { endLookAlikes { $0.number <= number } }

    private mutating func endLookAlikes(of parts: [LocalWrite]) {
        // A patch of the record that is created has its key too.
        let creations = parts.filter { $0.write.method == .create }
        if !lookAlikes.isEmpty { endLookAlikes { ended in creations.contains { $0.key == ended.creation } } }
    }

    private mutating func endLookAlikes(where isEnded: (LookAlike) -> Bool) {
        for (key, lookAlike) in lookAlikes where isEnded(lookAlike) {
            lookAlikes[key] = nil
            touch(key)
        }
    }

    /// Shows a list from disk until the server responds.
    /// - Returns: Its rows with the states that all lists share.
    @discardableResult
    mutating func restored(_ list: RestoredList, in window: Window.ID) -> ResultRows {
        let newer = list.newer.filter { records.order(of: $0) != .older }.map { Record($0) }
        let known = known(for: list.rows.map(\.state) + newer, besides: window)
        var list = list
        if windows.count > 1, list.head?.isShaped != true { list.rows = sharing(list.rows) }
        _ = change(window) { $0.restored(list, newer + known) }
        if let rows = windows[window], rows.isShared { restored(rows.known, newer, in: window) }
        noteRecords(of: queue)
        // An earlier process may have heard of records whose creation has not been answered.
        if queue.contains(where: \.mayHaveCreated), let rows = windows[window]?.known {
            for row in rows { noteLookAlike(row.key, row.record, isStored: true) }
        }
        return list.rows
    }

    /// Returns rows from disk with the states that are known, where they are the same.
    private func sharing(_ rows: ResultRows) -> ResultRows {
        ResultRows(
            rows.map { row in
                guard let known = records[row.key], known !== row.state, known.value == row.record else { return row }
                return row.inState(known)
            })
    }

    /// Takes the states of a list from disk, also for other lists from there. What a fetch has brought is newer.
    private mutating func restored(_ rows: ResultRows, _ newer: [Record], in window: Window.ID) {
        for row in rows where records[row.key] !== row.state {
            let isNew = records[row.key]?.value != row.record
            records.put(row.state)
            guard isNew else { continue }
            let others = ids.filter { $0 != window && windows[$0]?.isStored(row.state) == true }
            report(row.state, isNew: false, to: others)
        }
        guard records.keepsUnused else { return }
        for state in newer where records[state.key]?.number ?? 0 == 0 { records.put(state) }
    }

    /// Returns what the server has reported to this process of records from disk. The process that stores them knows
    /// more of each than the disk. Another one may know less, unless one of its lists was fetched.
    private func known(for stored: [Record], besides other: Window.ID) -> [Record] {
        let others = windows.filter { $0.key != other && $0.value.isShared && $0.value.source == .server }.values
        guard records.number > 0 else { return [] }
        return stored.compactMap { state in
            guard let known = records[state.key], known.number > 0, known.value != state.value else { return nil }
            return records.isStored || others.contains { $0[state.key] != nil } ? known : nil
        }
    }

    /// Returns the records that look like the one that a write may have created, as far as they are known.
    func candidates(of id: UUID) -> [JSONValue] {
        queue.filter { $0.id == id }.flatMap(\.candidates).compactMap { known($0) }
    }
}
