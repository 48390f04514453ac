/// A JSON object: keys in the order they were written, as JavaScript keeps them.
///
/// The order is part of what Feathers sends (`$sort`), yet no part of equality. Keys are told apart by their code units, as
/// in JavaScript: a composed and a decomposed "é" are two keys. Small objects are searched in a line, which beats hashing;
/// larger ones carry an index.
public struct JSONObject: Sendable {
    public typealias Element = (key: String, value: JSONValue)

    /// A key beside its value: one allocation holds a whole object.
    struct Entry: Sendable {
        var key: String
        var value: JSONValue
    }

    private(set) var entries: [Entry]
    /// Where each key stands; kept only above `indexingThreshold` keys.
    private var positions: [ExactString: Int]?

    /// Up to here a look-up in a line costs no more than hashing the key.
    static let indexingThreshold = 32

    /// An object without members.
    public init() {
        entries = []
        positions = nil
    }

    /// An empty object with room for `capacity` keys.
    public init(minimumCapacity capacity: Int) {
        self.init()
        entries.reserveCapacity(capacity)
    }

    /// An object of entries whose keys are known to differ.
    init(uniqueEntries: [Entry]) {
        entries = uniqueEntries
        positions = nil
        indexIfLarge()
    }

    /// An object of entries; of a repeated key the last value wins, at the place of the first.
    init(mergingEntries source: [Entry]) {
        self.init(minimumCapacity: source.count)
        guard source.count > Self.indexingThreshold else {
            for entry in source { self[entry.key] = entry.value }
            return
        }
        var positions = [ExactString: Int](minimumCapacity: source.count)
        for entry in source {
            // Looks up and inserts with a single hash.
            let next = entries.count
            let position = { (position: inout Int) in position }(&positions[ExactString(entry.key), default: next])
            if position == next { entries.append(entry) } else { entries[position].value = entry.value }
        }
        self.positions = entries.count > Self.indexingThreshold ? positions : nil
    }

    /// The keys, in their order.
    public var keys: [String] { entries.map(\.key) }

    /// The values, in the order of their keys.
    public var values: [JSONValue] { entries.map(\.value) }

    /// The value of a key; setting nil removes the key, setting JSON null keeps it.
    public subscript(key: String) -> JSONValue? {
        get {
            guard let position = position(of: key) else { return nil }
            return entries[position].value
        }
        set {
            guard let newValue else {
                removeValue(forKey: key)
                return
            }
            updateValue(newValue, forKey: key)
        }
    }

    /// Sets the value of a key, which takes its place at the end if it is new.
    mutating func updateValue(_ value: JSONValue, forKey key: String) {
        if let position = position(of: key) {
            entries[position].value = value
        } else {
            append(value, forNewKey: key)
        }
    }

    /// The value of a key, or `default` while there is none; for changing values in place.
    public subscript(key: String, default defaultValue: @autoclosure () -> JSONValue) -> JSONValue {
        get {
            self[key] ?? defaultValue()
        }
        _modify {
            let position: Int
            if let existing = self.position(of: key) {
                position = existing
            } else {
                append(defaultValue(), forNewKey: key)
                position = entries.count - 1
            }
            yield &entries[position].value
        }
    }

    /// Removes a key and returns its value.
    @discardableResult
    public mutating func removeValue(forKey key: String) -> JSONValue? {
        guard let position = position(of: key) else { return nil }
        let removed = entries.remove(at: position)
        positions = nil
        indexIfLarge()
        return removed.value
    }

    /// The value at a place in the order, to be filled in later; the encoder's containers need it.
    mutating func setValue(_ value: JSONValue, at position: Int) {
        entries[position].value = value
    }

    private mutating func append(_ value: JSONValue, forNewKey key: String) {
        entries.append(Entry(key: key, value: value))
        if positions == nil {
            if entries.count > Self.indexingThreshold { indexIfLarge() }
        } else {
            positions?[ExactString(key)] = entries.count - 1
        }
    }

    private mutating func indexIfLarge() {
        guard entries.count > Self.indexingThreshold else { return }
        var positions = [ExactString: Int](minimumCapacity: entries.count)
        for (position, entry) in entries.enumerated() { positions[ExactString(entry.key)] = position }
        self.positions = positions
    }

    /// Where a key stands in the order.
    func position(of key: String) -> Int? {
        if let positions { return positions[ExactString(key)] }
        return entries.withUnsafeBufferPointer { entries in
            var position = 0
            while position < entries.count {
                if entries[position].key.isExactly(key) { return position }
                position += 1
            }
            return nil
        }
    }
}
