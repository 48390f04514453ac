/// A JSON object: keys in the order they were written, as JavaScript keeps them.
///
/// The order is part of what Feathers sends (`$sort`), yet no part of equality. Small objects are searched in a line, which
/// beats hashing; larger ones carry an index.
public struct JSONObject: Sendable {
    public typealias Element = (key: String, value: JSONValue)

    private(set) var keys: [String]
    private(set) var values: [JSONValue]
    /// Where each key stands; kept only above `indexingThreshold` keys.
    private var positions: [String: Int]?

    private static let indexingThreshold = 16

    public init() {
        keys = []
        values = []
        positions = nil
    }

    /// An empty object with room for `capacity` keys.
    public init(minimumCapacity capacity: Int) {
        self.init()
        keys.reserveCapacity(capacity)
        values.reserveCapacity(capacity)
    }

    /// The value of a key; setting nil removes the key, setting JSON null keeps it.
    public subscript(key: String) -> JSONValue? {
        get {
            position(of: key).map { values[$0] }
        }
        set {
            guard let newValue else {
                removeValue(forKey: key)
                return
            }
            if let position = position(of: key) {
                values[position] = newValue
            } else {
                append(newValue, forNewKey: key)
            }
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
                position = values.count - 1
            }
            yield &values[position]
        }
    }

    /// Removes a key and returns its value.
    @discardableResult
    public mutating func removeValue(forKey key: String) -> JSONValue? {
        guard let position = position(of: key) else { return nil }
        keys.remove(at: position)
        positions = nil
        indexIfLarge()
        return values.remove(at: position)
    }

    private mutating func append(_ value: JSONValue, forNewKey key: String) {
        keys.append(key)
        values.append(value)
        if positions == nil {
            indexIfLarge()
        } else {
            positions![key] = keys.count - 1
        }
    }

    private mutating func indexIfLarge() {
        guard keys.count > Self.indexingThreshold else { return }
        positions = Dictionary(uniqueKeysWithValues: zip(keys, keys.indices))
    }

    private func position(of key: String) -> Int? {
        if let positions { return positions[key] }
        return keys.firstIndex(of: key)
    }
}

extension JSONObject: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { keys.count }

    public subscript(position: Int) -> Element {
        (keys[position], values[position])
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// An object from a literal; of a repeated key the last value wins, as in JavaScript.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(minimumCapacity: elements.count)
        for (key, value) in elements { self[key] = value }
    }
}

extension JSONObject: Hashable {
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        guard left.count == right.count else { return false }
        if left.keys == right.keys { return left.values == right.values }
        return left.allSatisfy { key, value in right[key] == value }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        // Independent of the order, as equality is.
        var combined = 0
        for (key, value) in self {
            var element = Hasher()
            element.combine(key)
            element.combine(value)
            combined ^= element.finalize()
        }
        hasher.combine(combined)
    }
}
