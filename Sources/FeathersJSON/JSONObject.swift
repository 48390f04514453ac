/// A JSON object, with its keys in the order they were written, as in JavaScript.
///
/// The order matters to Feathers (`$sort`) but not to equality. Keys are compared by code units, as in JavaScript, so a
/// composed and a decomposed "é" are different keys.
public struct JSONObject: Sendable {
    public typealias Element = (key: String, value: JSONValue)

    /// A key and its value. A single allocation holds a whole object.
    struct Entry: Sendable {
        var key: String
        var value: JSONValue
    }

    private(set) var storedEntries: [Entry]
    /// The position of each key; nil up to `indexingThreshold` keys, because searching a small object is faster than
    /// hashing.
    private var positions: [JSONValue: Int]?

    static let indexingThreshold = 32

    /// Creates an empty object.
    public init() {
        storedEntries = []
        positions = nil
    }

    /// Creates an empty object with room for `capacity` keys.
    package init(minimumCapacity capacity: Int) {
        self.init()
        storedEntries.reserveCapacity(capacity)
    }

    /// Creates an object from entries whose keys are known to be unique.
    init(uniqueEntries: [Entry]) {
        storedEntries = uniqueEntries
        positions = nil
        indexIfLarge()
    }

    /// Creates an object from entries. For a repeated key, the last value wins, at the position of the first.
    init(mergingEntries source: [Entry]) {
        self.init()
        guard source.count > Self.indexingThreshold else {
            storedEntries = source
            // Copied only if a key repeats, which is rare.
            if source.indices.contains(where: { position(of: source[$0].key) != $0 }) {
                storedEntries = []
                for entry in source { self[entry.key] = entry.value }
            }
            return
        }
        storedEntries.reserveCapacity(source.count)
        var positions = [JSONValue: Int](minimumCapacity: source.count)
        for entry in source {
            // Finds or inserts with a single hash computation.
            let next = storedEntries.count
            let position = { (position: inout Int) in position }(&positions[JSONValue.string(entry.key), default: next])
            if position == next { storedEntries.append(entry) } else { storedEntries[position].value = entry.value }
        }
        self.positions = storedEntries.count > Self.indexingThreshold ? positions : nil
    }

    /// Creates an object from keys and values. For a repeated key, the last value wins, at the position of the first.
    public init(_ elements: some Sequence<(String, JSONValue)>) {
        self.init(minimumCapacity: elements.underestimatedCount)
        for (key, value) in elements { assign(value, forKey: key) }
    }

    /// The keys, in order.
    public var keys: [String] { storedEntries.map(\.key) }

    /// The value for a key. Setting nil removes the key; setting JSON null keeps it.
    public subscript(key: String) -> JSONValue? {
        get {
            guard let position = position(of: key) else { return nil }
            return storedEntries[position].value
        }
        set {
            if let newValue { assign(newValue, forKey: key) } else { removeValue(forKey: key) }
        }
    }

    mutating func assign(_ value: JSONValue, forKey key: String) {
        if let position = position(of: key) {
            storedEntries[position].value = value
        } else {
            appendEntry(value, forNewKey: key)
        }
    }

    /// The value for a key, or `default` if the key is missing. Use it to change values in place.
    package subscript(key: String, default defaultValue: @autoclosure () -> JSONValue) -> JSONValue {
        get {
            self[key] ?? defaultValue()
        }
        _modify {
            let position: Int
            if let existing = self.position(of: key) {
                position = existing
            } else {
                appendEntry(defaultValue(), forNewKey: key)
                position = storedEntries.count - 1
            }
            yield &storedEntries[position].value
        }
    }

    /// Removes the value for a key and returns it; nil if the key is missing.
    @discardableResult
    public mutating func removeValue(forKey key: String) -> JSONValue? {
        guard let position = position(of: key) else { return nil }
        let removed = storedEntries.remove(at: position)
        positions = nil
        indexIfLarge()
        return removed.value
    }

    /// Replaces the value at a position. The encoder uses this to fill in nested containers.
    mutating func setValue(_ value: JSONValue, at position: Int) { storedEntries[position].value = value }

    private mutating func appendEntry(_ value: JSONValue, forNewKey key: String) {
        storedEntries.append(Entry(key: key, value: value))
        if positions == nil {
            if storedEntries.count > Self.indexingThreshold { indexIfLarge() }
        } else {
            positions?[JSONValue.string(key)] = storedEntries.count - 1
        }
    }

    private mutating func indexIfLarge() {
        guard storedEntries.count > Self.indexingThreshold else { return }
        var positions = [JSONValue: Int](minimumCapacity: storedEntries.count)
        for (position, entry) in storedEntries.enumerated() { positions[JSONValue.string(entry.key)] = position }
        self.positions = positions
    }

    @inline(__always)
    func hasKey(_ key: String, at position: Int) -> Bool {
        position < storedEntries.count && storedEntries[position].key.isExactly(key)
    }

    func position(of key: String) -> Int? {
        if let positions { return positions[JSONValue.string(key)] }
        return storedEntries.withUnsafeBufferPointer { entries in
            var position = 0
            while position < entries.count {
                if entries[position].key.isExactly(key) { return position }
                position += 1
            }
            return nil
        }
    }
}

extension JSONObject: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { storedEntries.count }

    public subscript(position: Int) -> Element { (storedEntries[position].key, storedEntries[position].value) }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// Creates an object from a literal. For a repeated key, the last value wins, as in JavaScript.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
}

extension JSONObject: Hashable {
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        guard left.count == right.count else { return false }
        for (position, entry) in left.storedEntries.enumerated() {
            // Both sides usually have the same order, which avoids a lookup.
            let other = right.storedEntries[position]
            if other.key.isExactly(entry.key) {
                guard other.value == entry.value else { return false }
            } else {
                guard right[entry.key] == entry.value else { return false }
            }
        }
        return true
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        // Independent of order, like equality.
        var combined = 0
        for entry in storedEntries {
            var element = Hasher()
            entry.key.hashExactly(into: &element)
            element.combine(entry.value)
            combined ^= element.finalize()
        }
        hasher.combine(combined)
    }
}

extension JSONObject: Codable {
    /// Decodes an object from any decoder, with the keys in the decoder's order.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: JSONKey.self)
        let keys = container.allKeys
        self.init(minimumCapacity: keys.count)
        for key in keys { self[key.stringValue] = try container.decode(JSONValue.self, forKey: key) }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: JSONKey.self)
        for entry in storedEntries { try container.encode(entry.value, forKey: JSONKey(stringValue: entry.key)) }
    }
}
