/// Records found by key in constant time and listed in an order of their own.
///
/// The records lie in one row, a dictionary knows the place of each. A removed record leaves a gap, and the row closes
/// up when half of it is gaps: removing costs constant time on average.
struct OrderedRecords<Key: Hashable & Sendable>: Sendable {
    private struct Slot: Sendable {
        let key: Key
        var record: JSONValue?
    }

    private var slots: [Slot] = []
    private var places: [Key: Int] = [:]

    var count: Int { places.count }

    /// The key last in the row; nil while the row is empty.
    var lastKey: Key? { slots.last?.key }

    subscript(key: Key) -> JSONValue? {
        places[key].flatMap { slots[$0].record }
    }

    /// The records in the order of the row.
    var records: some Sequence<(key: Key, record: JSONValue)> {
        slots.lazy.compactMap { slot in slot.record.map { (slot.key, $0) } }
    }

    /// Stores a record in the place its key has, or at the end of the row.
    mutating func store(_ record: JSONValue, for key: Key) {
        if let place = places[key] {
            slots[place].record = record
        } else {
            places[key] = slots.count
            slots.append(Slot(key: key, record: record))
        }
    }

    /// Changes a record in place; does nothing for a key without one.
    mutating func change(_ key: Key, _ change: (inout JSONValue) -> Void) {
        guard let place = places[key], var record = slots[place].record else { return }
        // Taken out, so that it is not shared while it changes.
        slots[place].record = nil
        change(&record)
        slots[place].record = record
    }

    mutating func remove(_ key: Key) {
        guard let place = places.removeValue(forKey: key) else { return }
        slots[place].record = nil
        if places.count < slots.count / 2 { closeGaps() }
    }

    /// Sorts the row.
    mutating func sort(by areInIncreasingOrder: (Key, Key) -> Bool) {
        slots.sort { areInIncreasingOrder($0.key, $1.key) }
        closeGaps()
    }

    private mutating func closeGaps() {
        slots.removeAll { $0.record == nil }
        for (place, slot) in slots.enumerated() { places[slot.key] = place }
    }
}
