import FeathersCore
import Foundation

/// What events and results of the server mean for the writes of a live query: for those in flight, what the base has
/// seen of their records; for executed ones, whether they end or stay applied.
extension LiveView {
    /// Records for the writes in flight an event that a fetch replaces. No other event of its write follows.
    mutating func leftToFetch(_ event: ServiceEvent, _ key: String) {
        // A removal is never older than a change of its record.
        if base[key] == nil, reported[key] == JSONValue.null { return saw(event, key) }
        for index in writes.indices where writes[index].isSending && writes[index].untaken.count < 8 {
            if writes[index].mayHaveCaused(event, key: key, id: id) { writes[index].untaken.append(event.data) }
        }
    }

    /// Records what the server has reported of a record that pending writes may bring into the result.
    mutating func report(_ key: String, _ event: ServiceEvent) {
        if writes.contains(where: { $0.concerns(key) }) {
            reported[key] = event.name == .removed ? JSONValue.null : event.data
        }
    }

    /// Records for the writes in flight that the base includes an event.
    mutating func saw(_ event: ServiceEvent, _ key: String) {
        for index in writes.indices
        where writes[index].isSending && writes[index].concerns(key) && writes[index].seen.count < 8 {
            writes[index].seen.append(event.data)
        }
    }

    /// Records for the writes that may have caused an event that the base has not taken it.
    /// - Parameter last: The last executed write that has caused it, if there is one. The events of those before it
    ///   have come too.
    mutating func untook(_ event: ServiceEvent, _ key: String, _ last: LiveWrite?) {
        for index in writes.indices where !writes[index].isRetried && writes[index].untaken.count < 8 {
            if let result = writes[index].results?[key] {
                if let last, writes[index].executedAt <= last.executedAt { writes[index].untaken.append(result) }
            } else if writes[index].isSending, writes[index].mayHaveCaused(event, key: key, id: id) {
                writes[index].untaken.append(event.data)
            }
        }
    }

    /// Ends executed writes to some records, because a later result or event includes them.
    /// - Parameter time: When the last of them was executed. A write that was refused and sent again follows those that
    ///   were queued after it.
    mutating func settle(through time: Int, _ keys: [String]) -> [LiveWrite] {
        let settled = writes.filter { write in
            write.results != nil && write.executedAt <= time && keys.contains(where: write.concerns)
        }
        writes.removeAll { write in settled.contains { $0.write.id == write.write.id } }
        return settled
    }

    /// Applies a write again whose result the base has lost.
    mutating func restore(_ write: LiveWrite) {
        echoes.removeAll { $0.write.id == write.write.id }
        guard !writes.contains(where: { $0.write.id == write.write.id }) else { return }
        var write = write
        write.restorations += 1
        // What has been executed comes before what is pending, also if that was queued earlier under another id.
        writes.insert(
            write, at: writes.firstIndex { $0.results == nil || $0.executedAt > write.executedAt } ?? writes.count)
    }
}
