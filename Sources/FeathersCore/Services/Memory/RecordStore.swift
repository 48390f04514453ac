/// The records of a memory service by id, in the order of JavaScript's object keys: integers in ascending order, then
/// the others in insertion order.
///
/// Not copyable, because a read through a copyable property copies it: four reference counts for each `get`.
struct RecordStore: ~Copyable, Sendable {
    private var indexed = OrderedRecords<UInt32>()
    private var named = OrderedRecords<JSONValue>()
    /// Whether an integer was added after a greater one. If so, the records are sorted before they are next listed.
    private var needsSorting = false

    var count: Int { indexed.count + named.count }

    subscript(key: RecordKey) -> JSONValue? {
        switch key {
        case .index(let index): indexed[index]
        case .name(let name): named[name]
        }
    }

    mutating func store(_ record: JSONValue, for key: RecordKey) {
        switch key {
        case .index(let index):
            if let last = indexed.lastKey, last > index, indexed[index] == nil { needsSorting = true }
            indexed.store(record, for: index)
        case .name(let name): named.store(record, for: name)
        }
    }

    mutating func change(_ key: RecordKey, _ change: (inout JSONValue) -> Void) {
        switch key {
        case .index(let index): indexed.change(index, change)
        case .name(let name): named.change(name, change)
        }
    }

    mutating func remove(_ key: RecordKey) {
        switch key {
        case .index(let index): indexed.remove(index)
        case .name(let name): named.remove(name)
        }
    }

    /// Calls `body` with the records in order until it returns false.
    mutating func visit(_ body: (RecordKey, JSONValue) -> Bool) {
        if needsSorting {
            indexed.sort(by: <)
            needsSorting = false
        }
        for (index, record) in indexed.records where !body(.index(index), record) { return }
        for (name, record) in named.records where !body(.name(name), record) { return }
    }
}

/// The key of a record: its id as a JavaScript object key, so that `1` and `"1"` find the same record.
enum RecordKey: Hashable, Sendable {
    /// An integer that JavaScript lists in ascending order, before all other keys.
    case index(UInt32)
    /// Any other text. As a JSON value, because those are compared by code units.
    case name(JSONValue)

    /// The largest array index in JavaScript.
    private static let greatestIndex = UInt32.max - 1

    init(_ id: ServiceID) {
        switch id {
        case .integer(let integer):
            self = UInt32(exactly: integer).flatMap(Self.init(index:)) ?? .name(.string(String(integer)))
        case .number(let number):
            self = UInt32(exactly: number).flatMap(Self.init(index:)) ?? .name(.string(id.description))
        case .decimal(let decimal): self = .name(.string(decimal.text))
        case .string(let string): self = Self.index(in: string).flatMap(Self.init(index:)) ?? .name(id.json)
        }
    }

    private init?(index: UInt32) {
        guard index <= Self.greatestIndex else { return nil }
        self = .index(index)
    }

    /// Returns the integer for text in canonical form: "7", but not "07" or "+7".
    private static func index(in text: String) -> UInt32? {
        let digits = text.utf8
        guard let first = digits.first, digits.count <= 10, first != UInt8(ascii: "0") || digits.count == 1 else {
            return nil
        }
        var value: UInt64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + UInt64(digit - UInt8(ascii: "0"))
        }
        return UInt32(exactly: value)
    }
}

/// Records by key, in the order they were added or sorted.
/// The records are in one array, with a dictionary of their indices. Removing a record leaves a gap. The array is
/// compacted when more than half of it is gaps, so that removing takes constant time on average.
struct OrderedRecords<Key: Hashable & Sendable>: ~Copyable, Sendable {
    private struct Slot: Sendable {
        let key: Key
        var record: JSONValue?
    }

    private var slots: [Slot] = []
    private var places: [Key: Int] = [:]

    var count: Int { places.count }

    var lastKey: Key? { slots.last?.key }

    subscript(key: Key) -> JSONValue? { places[key].flatMap { slots[$0].record } }

    var records: some Sequence<(key: Key, record: JSONValue)> {
        slots.lazy.compactMap { slot in slot.record.map { (slot.key, $0) } }
    }

    mutating func store(_ record: JSONValue, for key: Key) {
        if let place = places[key] {
            slots[place].record = record
        } else {
            places[key] = slots.count
            slots.append(Slot(key: key, record: record))
        }
    }

    /// Modifies a record in place. Does nothing for an unknown key.
    mutating func change(_ key: Key, _ change: (inout JSONValue) -> Void) {
        guard let place = places[key], var record = slots[place].record else { return }
        // Moved out of the slot, so that modifying it does not copy it.
        slots[place].record = nil
        change(&record)
        slots[place].record = record
    }

    mutating func remove(_ key: Key) {
        guard let place = places.removeValue(forKey: key) else { return }
        slots[place].record = nil
        if places.count < slots.count / 2 { closeGaps() }
    }

    mutating func sort(by areInIncreasingOrder: (Key, Key) -> Bool) {
        slots.sort { areInIncreasingOrder($0.key, $1.key) }
        closeGaps()
    }

    private mutating func closeGaps() {
        slots.removeAll { $0.record == nil }
        for (place, slot) in slots.enumerated() { places[slot.key] = place }
    }
}
