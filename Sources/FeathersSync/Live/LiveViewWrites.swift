import FeathersCore
import Foundation

/// The writes of a live query: each is shown while it is pending, and leaves once the base shows what it did.
extension LiveView {
    /// Replaces the pending writes, for another user or at the beginning.
    mutating func replaceWrites(_ items: [OutboxQueue.Item]) {
        writes = items.filter { $0.write.route == route }.map { item in
            var write = LiveWrite(item.write, number: item.number, id: id)
            write.failure = item.failure
            if case .sending = item.stage { (write.isSending, write.isRepeated) = (true, item.mayHaveExecuted) }
            if item.mayHaveExecuted { write.isSending = true }
            write.isTouched = write.isSending
            return write
        }
        echoes = LiveEchoes()
        rebuild()
    }

    /// Applies a change of the outbox.
    mutating func apply(_ change: OutboxChange) {
        switch change {
        case .queued(let write, let number):
            guard write.route == route else { return }
            let added = made(write, number)
            writes.append(added)
            hasRefilled = false
            refresh(added.keys)
        case .changed(let write, let failure):
            guard let index = index(of: write.id) else { return }
            let old = writes[index]
            // A claim changes nothing but the user.
            writes[index].write.identity = write.identity
            if writes[index].write != write { writes[index] = made(write, old.number) }
            // Whatever is decided, the server may have executed it already.
            if old.failure?.reason == .unknown, failure == nil {
                base.missedEvents()
                // What it did is not what the next attempt does.
                (writes[index].seen, writes[index].untaken, writes[index].isRetried) = (
                    [], [], old.write.data == write.data
                )
            }
            writes[index].failure = failure
            // No result follows that could be old.
            if failure != nil { writes[index].isRepeated = false }
            // The record is gone, or what was believed of it is not so, unless an earlier attempt was executed.
            if !writes[index].isEffective(confirmedOnly: false) {
                for key in old.keys where reported[key] != JSONValue.null {
                    let wasShown = !old.isRetried && old.isShown(by: reported[key], key: key, id: id)
                    if wasShown || failure?.error.code == .notFound { reported[key] = nil }
                }
            }
            guard old.write != write || (old.failure == nil) != (failure == nil) else { return }
            refresh(old.keys + writes[index].keys)
        case .sending(let id, let isRepeated):
            guard let index = index(of: id) else { return }
            // Whatever came of an attempt, events may still show it.
            if !writes[index].isSending { writes[index].sent() }
            writes[index].isRepeated = isRepeated
        case .discarded(let id):
            guard let index = index(of: id) else { return }
            let write = writes.remove(at: index)
            // The server may have executed it, and no event may report that.
            if write.failure?.reason == .unknown { base.missedEvents() }
            refresh(write.keys)
        case .executed(let id, let result): executed(id, result.value)
        }
    }

    /// Returns a write with the keys that the server has already assigned.
    private func made(_ write: OutboxWrite, _ number: Int) -> LiveWrite {
        var made = LiveWrite(write, number: number, id: id)
        for target in made.targets { if let key = assigned[target.firstKey] { made.rename(target.firstKey, to: key) } }
        return made
    }

    private func index(of id: UUID) -> Int? { writes.firstIndex { $0.write.id == id } }

    /// Records that a write was executed whose result this user may not see.
    mutating func executedElsewhere(_ id: UUID) {
        // Its events may not reach this user either.
        missedEvents()
        guard let index = index(of: id) else { return }
        writes[index].isRepeated = true
        executed(id, .null)
    }

    private mutating func executed(_ writeID: UUID, _ result: JSONValue) {
        guard let index = index(of: writeID) else { return }
        var write = writes.remove(at: index)
        let old = write.targets
        (tick, write.executedAt) = (tick + 1, tick + 1)
        let records = write.records(in: result, id: id)
        write.results = records ?? [:]
        var keys = old.map(\.key) + write.keys
        let shown = shownRows(of: keys)
        if write.targets.contains(where: { write.overtaken[$0.key] != nil }) { write.isTouched = true }
        var (isAdopted, settled) = (false, [LiveWrite]())
        for (before, now) in zip(old, write.targets) where before.key != now.key {
            rename(before.firstKey, to: now.key)
            // Another write may have made the record that this one was taken for.
            if let taken = base[before.key], adopt(before.key, taken.record) { isAdopted = true }
        }
        if let name = EventName(endOf: write.write.method) {
            let isNewest = !write.isTouched && !write.isRepeated
            if isNewest, !isKnown { hasExecuted = true }
            for (key, record) in write.keys.compactMap({ key in records?[key].map { (key, $0) } })
            where base[key]?.record != record {
                let event = ServiceEvent(path: write.write.path, name: name, data: record)
                if isNewest {
                    _ = base.received(event)
                    follow(key, with: event)
                }
                // Events after its own are newer, and everything may be if it was sent again. What belongs to the
                // result is not outside of it, unless the record is known to be.
                let mayBeOlder = write.isRepeated || write.seen.contains(record) || write.overtaken[key] != nil
                if name == .removed || !mayBeOlder && (reported[key]?.object != nil || !base.plan.matches(record)) {
                    report(key, event)
                }
            }
        }
        if records == nil || write.isRepeated {
            // Only a fetch can show what the write did, and what has become of it since.
            restore(write)
        } else if write.isSeen || write.targets.allSatisfy({ write.overtaken[$0.key] == true }) {
            // The base has taken its event, so it shows the same or something newer, or what it has created is gone
            // already.
            settled = settle(through: write.executedAt, write.keys)
        } else if write.isShown(in: base) {
            // A fetch may have shown the place too.
            write.isPlaced = write.isTouched && write.keys.allSatisfy { base[$0] != nil }
            settled = settle(through: write.executedAt, write.keys)
            for var each in settled + [write] {
                // A later write has found what one that was sent again has done.
                each.isRepeated = false
                echoes.expect(each)
            }
        } else {
            // Without an order, only a fetch can place a record that was not known.
            restore(write)
        }
        hasRefilled = false
        keys += settled.flatMap(\.keys)
        if isAdopted { rebuild() } else { refresh(keys, replacing: shown) }
    }

    /// Takes a new record of the server's for the one that a pending write is creating. Another view may know it
    /// already, with changes of it pending.
    /// - Returns: Whether there is such a write. Then the rows must be rebuilt.
    @discardableResult
    mutating func adopt(_ key: String, _ record: JSONValue) -> Bool {
        guard !writes.contains(where: { $0.write.method == .create && $0.concerns(key) }) else { return false }
        for write in writes {
            guard let target = write.match(for: record, id: id) else { continue }
            rename(target.firstKey, to: key)
            return true
        }
        return false
    }

    /// Returns the server's ids of the records that were matched to those that a write creates, by the provisional ids.
    func adopted(by write: OutboxWrite) -> [String: ServiceID] {
        write.provisionalKeys.reduce(into: [:]) { found, text in
            found[text] = assigned[text].flatMap { base[$0]?.record[id] }.flatMap { ServiceID($0) }
        }
    }

    /// Records the key that the server has assigned to a created record. The row keeps its identity.
    private mutating func rename(_ first: String, to key: String) {
        if let old = assigned.updateValue(key, forKey: first) { aliases[old] = nil }
        if let other = aliases.updateValue(first, forKey: key), other != first { assigned[other] = nil }
        for index in writes.indices { writes[index].rename(first, to: key) }
    }
}
