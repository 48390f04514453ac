extension JSONObject: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { entries.count }

    public subscript(position: Int) -> Element {
        (entries[position].key, entries[position].value)
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// An object from a literal; of a repeated key the last value wins, as in JavaScript.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(mergingEntries: elements.map(Entry.init))
    }
}

extension JSONObject: Hashable {
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        guard left.count == right.count else { return false }
        for (position, entry) in left.entries.enumerated() {
            // Mostly both sides have the same order, and then no look-up is needed.
            let other = right.entries[position]
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
        // Independent of the order, as equality is.
        var combined = 0
        for entry in entries {
            var element = Hasher()
            entry.key.hashExactly(into: &element)
            element.combine(entry.value)
            combined ^= element.finalize()
        }
        hasher.combine(combined)
    }
}

extension JSONObject {
    /// An object of keys and values; of a repeated key the last value wins, at the place of the first.
    public init(_ elements: some Sequence<(String, JSONValue)>) {
        self.init(mergingEntries: elements.map(Entry.init))
    }
}
