import FeathersCore

/// The executed writes of a live query whose events have not arrived, by record. A different event that arrives first
/// may be older.
struct LiveEchoes: Sendable {
    /// How often an executed write is applied again. If other events keep coming instead of its own, the server does
    /// not send that.
    static let mostRestorations = 8
    private var writes: [String: [LiveWrite]] = [:]

    /// Waits for the events of an executed write.
    mutating func expect(_ write: LiveWrite) {
        guard write.restorations < Self.mostRestorations, !write.isRepeated, !write.isHeard else { return }
        if writes.count >= 1000 { writes = [:] }
        for key in write.keys { writes[key, default: []].append(write) }
    }

    /// Takes the write that caused an event, with those before it; nil if the event is not expected.
    mutating func take(_ event: ServiceEvent, _ key: String) -> LiveWrite? {
        guard let expected = writes[key], let index = expected.lastIndex(where: { $0.caused(event, key: key) }) else {
            return nil
        }
        let rest = Array(expected[(index + 1)...])
        writes[key] = rest.isEmpty ? nil : rest
        return expected[index]
    }

    /// Takes all writes to a record.
    mutating func take(_ key: String) -> [LiveWrite] { writes.removeValue(forKey: key) ?? [] }

    /// Records that a fetch has shown the places of the records in its result.
    mutating func placed(in base: LiveWindow) {
        for key in writes.keys where base[key] != nil {
            for index in writes[key, default: []].indices { writes[key]?[index].isPlaced = true }
        }
    }

    /// Returns the writes that a result does not show although it may have to, and those after them.
    func lost(from base: LiveWindow, where mayBeLost: (LiveWrite, String) -> Bool) -> [LiveWrite] {
        writes.flatMap { key, expected in expected.drop { !mayBeLost($0, key) || $0.isShown(in: base) } }
    }

    mutating func removeAll(where condition: (LiveWrite) -> Bool) {
        writes = writes.compactMapValues { expected in
            let rest = expected.filter { !condition($0) }
            return rest.isEmpty ? nil : rest
        }
    }
}
